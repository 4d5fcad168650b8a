"""What the papers share: the ledger of claims, checks, figures, glue and the build."""
