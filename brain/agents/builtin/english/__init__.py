"""Reading English: tokens, noun phrases, clauses, and the tables that turn them into statements."""
