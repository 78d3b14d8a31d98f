"""Words the offline model knows, as tables: people's names, places, roles, kinds of options, relatives, languages."""
