package config

import (
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Mission has the defaults of missions, which flags override.
type Mission struct {
	Workers     int      `json:"workers,omitempty"`      // at once
	WorkerModel string   `json:"worker_model,omitempty"` // of the workers
	Reviewers   []string `json:"reviewers,omitempty"`    // their models, one each
	Stuck       string   `json:"stuck,omitempty"`        // a time, such as 10m
}

// Notify configures where to send notices when a mission ends or waits for an answer.
type Notify struct {
	Webhook string `json:"webhook,omitempty"` // an address that gets a POST request
}

// StuckAfter returns how long a worker may be silent; 0 if it is not configured.
func (m Mission) StuckAfter() (time.Duration, error) {
	if m.Stuck == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(m.Stuck)
	if err != nil || d <= 0 {
		return 0, fault.New(pawl.ErrInvalid, "mission.stuck is %.40q: use a duration, such as 10m", m.Stuck)
	}
	return d, nil
}
