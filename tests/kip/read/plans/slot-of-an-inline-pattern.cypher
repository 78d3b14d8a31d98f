step by step
