-- By what a person's data folder knows the databases that are theirs.

-- One row of 16 random bytes. It is in no export and never shown.
create table store_secret (
  secret blob not null
);
