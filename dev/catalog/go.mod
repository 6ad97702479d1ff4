// A module of its own: what it needs to make the data is no part of the program.
module github.com/pawl-dev/pawl/dev/catalog

go 1.26.0

require charm.land/catwalk v0.51.0

require github.com/charmbracelet/x/etag v0.2.0 // indirect
