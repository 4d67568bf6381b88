"""What an app writes: agents, skills, actions, delegation, permits, policies and the security of its rows."""
