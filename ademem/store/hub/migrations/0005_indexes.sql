-- A person who is purged is looked up in each table that names them or their devices.

create index devices_of_person on hub.devices (person);
create index tokens_of_device on hub.tokens (device);
create index cursors_of_device on hub.cursors (device);
create index invites_of_project on hub.invites (project);
