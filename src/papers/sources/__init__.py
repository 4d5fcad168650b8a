"""The claims of the studies that the papers revisit, and what only one paper's cells need."""
