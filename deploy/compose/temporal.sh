#!/bin/sh
# Brings Temporal's databases to the schema of this version. May be run again.
set -eu
for store in temporal:temporal temporal_visibility:visibility; do
	SQL_DATABASE=${store%%:*}
	export SQL_DATABASE
	temporal-sql-tool setup-schema -v 0.0
	temporal-sql-tool update-schema --schema-name "postgresql/v12/${store#*:}"
done
