"""Runs the steps on the connection the agency hands over, inside its transaction."""

from alembic import context

from core.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=connection.dialect.name == "sqlite")
context.run_migrations()
