"""Reading Chinese: clauses, subjects, and the tables that turn them into statements."""
