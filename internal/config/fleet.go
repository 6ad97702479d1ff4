package config

import (
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
)

// Fleet is where the parts of a fleet are. What makes sense is not known here.
type Fleet struct {
	Temporal   string `json:"temporal,omitempty"`   // host:port of the engine
	Namespace  string `json:"namespace,omitempty"`  // of the engine
	NATS       string `json:"nats,omitempty"`       // a URL, or several with commas
	Blobs      string `json:"blobs,omitempty"`      // file:///path or s3://bucket/prefix?endpoint=…
	Workspaces string `json:"workspaces,omitempty"` // the directory of the workspaces, the same on every host
	Gateway    string `json:"gateway,omitempty"`    // where the models are asked by those who have no keys

	HostTimeout string `json:"host_timeout,omitempty"` // how long a host may be silent before its sessions move, such as 10s

	Sources []string `json:"sources,omitempty"` // hosts of repositories at private addresses
}

// minHostTimeout: the engine counts some of the timeouts in seconds.
const minHostTimeout = 2 * time.Second

// SilentFor returns how long a host may be silent; 0 if the configuration does not say.
func (f Fleet) SilentFor() (time.Duration, error) {
	if f.HostTimeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(f.HostTimeout)
	if err != nil || d < minHostTimeout {
		return 0, fmt.Errorf("fleet.host_timeout is %.40q: use a duration of at least %s, such as 10s: %w", f.HostTimeout, minHostTimeout, pawl.ErrInvalid)
	}
	return d, nil
}
