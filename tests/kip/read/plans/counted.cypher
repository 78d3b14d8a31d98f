counted by the store
