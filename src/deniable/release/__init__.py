"""Answers released in stages: a ledger of one respondent, a panel of many, budgets, receipts and a market."""
