package config

import (
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Fleet configures the services of a fleet. This package does not validate it.
type Fleet struct {
	Temporal   string `json:"temporal,omitempty"`   // host:port of the engine
	Namespace  string `json:"namespace,omitempty"`  // of the engine
	NATS       string `json:"nats,omitempty"`       // a URL, or several with commas
	Blobs      string `json:"blobs,omitempty"`      // file:///path or s3://bucket/prefix?endpoint=…
	Workspaces string `json:"workspaces,omitempty"` // the directory of the workspaces, the same on every host
	Gateway    string `json:"gateway,omitempty"`    // the model gateway, for hosts without API keys

	HostTimeout string `json:"host_timeout,omitempty"` // how long a host may be silent before its sessions move, such as 10s

	Sources []string `json:"sources,omitempty"` // hosts of repositories at private addresses
}

// minHostTimeout is the minimum, because the engine has some timeouts in seconds.
const minHostTimeout = 2 * time.Second

// SilentFor returns how long a host may be silent; 0 if it is not configured.
func (f Fleet) SilentFor() (time.Duration, error) {
	if f.HostTimeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(f.HostTimeout)
	if err != nil || d < minHostTimeout {
		return 0, fault.New(pawl.ErrInvalid, "fleet.host_timeout is %.40q: use a duration of at least %s, such as 10s", f.HostTimeout, minHostTimeout)
	}
	return d, nil
}
