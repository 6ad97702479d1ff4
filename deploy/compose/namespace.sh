#!/bin/sh
# Registers the namespace, once Temporal answers. May be run again.
set -eu
until temporal operator cluster health; do sleep 1; done
temporal operator namespace describe -n pawl >/dev/null 2>&1 || temporal operator namespace create --retention 72h -n pawl
