"""Runs the steps on the connection the agency hands over, inside its transaction."""

from core.tables import metadata

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=connection.dialect.name == "sqlite")
context.run_migrations()
