package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/pawl-dev/pawl/internal/fault"
)

// seatbeltPath is the system's program; PATH is not searched.
const seatbeltPath = "/usr/bin/sandbox-exec"

// Seatbelt is the sandbox on macOS.
type Seatbelt struct {
	surveyor surveyor
}

var _ Backend = (*Seatbelt)(nil)

// Name returns seatbelt.
func (*Seatbelt) Name() string { return "seatbelt" }

// Wrap returns the call of sandbox-exec.
func (s *Seatbelt) Wrap(argv []string, p Profile) (Wrapped, error) {
	if len(argv) == 0 {
		return Wrapped{}, errors.New("no command")
	}
	if p.ProxySocket != "" {
		return Wrapped{}, fault.New(ErrRefused, "the Seatbelt sandbox does not support network access yet")
	}
	pl, err := newPlan(p, argv[0], &s.surveyor)
	if err != nil {
		return Wrapped{}, err
	}
	done := pl.undo
	if pl.temp == "" {
		if pl.temp, err = os.MkdirTemp("", "pawl-box-"); err != nil {
			return Wrapped{}, fmt.Errorf("create a directory for temporary files: %w", err)
		}
		pl.temp = resolve(pl.temp)
		done = func() {
			pl.undo()
			_ = os.RemoveAll(pl.temp) // nothing is lost if some of it stays
		}
	}
	// sandbox-exec has no option for the working directory, so a shell changes to it.
	inside := append([]string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, pl.work}, argv...)
	return Wrapped{
		Args:    append([]string{seatbeltPath, "-p", seatbeltProfile(pl)}, inside...),
		Env:     temporary(pl.env, pl.temp),
		Partial: pl.partial,
		Check:   func() ([]string, error) { return pl.check(&s.surveyor) },
		Close:   done,
	}, nil
}
