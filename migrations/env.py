"""How alembic reaches the database: over the connection that `app.db.schema` hands it, and over no other."""

from alembic import context

from migrations.tables import every_table


def run() -> None:
    """Run the revisions that are asked for, each in a transaction of its own, and no two runs at once."""
    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=every_table(),
        transaction_per_migration=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
