#!/bin/sh
# Runs once, when the cluster is made. Neither role is a superuser: row-level security does not hold those.
set -eu
psql -v ON_ERROR_STOP=1 -v pawl="$PAWL_PASSWORD" -v temporal="$TEMPORAL_PASSWORD" -U "$POSTGRES_USER" <<'SQL'
create role pawl login password :'pawl';
create database pawl owner pawl;
create role temporal login password :'temporal';
create database temporal owner temporal;
create database temporal_visibility owner temporal;
SQL
