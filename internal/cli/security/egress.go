package security

import (
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/pawl-dev/pawl/internal/security/egress/proxy"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// maxRefusals is the maximum number of refused requests that are printed.
const maxRefusals = 10

// refusals collects the distinct requests of a command that the proxy refused. Many programs do not
// print the proxy's reason.
type refusals struct {
	lines []string
	more  int
}

// decided records a decision of the proxy. It must not be called concurrently.
func (r *refusals) decided(d proxy.Decision) {
	line := "denied: " + d.Why
	if d.Host != "" {
		line = fmt.Sprintf("denied %s: %s", net.JoinHostPort(d.Host, fmt.Sprint(d.Port)), d.Why)
	}
	switch {
	case d.Allowed || slices.Contains(r.lines, line):
	case len(r.lines) < maxRefusals:
		r.lines = append(r.lines, line)
	default:
		r.more++
	}
}

func (r *refusals) print(w io.Writer) {
	for _, line := range r.lines {
		fmt.Fprintf(w, "pawl: note: %s\n", line)
	}
	if r.more > 0 {
		fmt.Fprintf(w, "pawl: note: denied %d more requests\n", r.more)
	}
}

// openEgress opens a proxy for the hosts and returns its socket. The caller calls done to close the
// proxy and to print the refused requests.
func openEgress(s *policy.Safety, hosts []string, notes io.Writer) (socket string, done func() error, err error) {
	var refused refusals
	p, err := s.WayOut(hosts, refused.decided)
	if err != nil {
		return "", nil, fmt.Errorf("--network: %w", err)
	}
	return p.Socket(), func() error {
		err := p.Close()
		refused.print(notes)
		return err
	}, nil
}
