package pawltest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/permission"
)

// Authority permits what the mode of a prompt permits, which is everything where
// none is named. It keeps no grants.
type Authority struct{}

// Policy is the mode's alone.
func (Authority) Policy(_ context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error) {
	mode, err := permission.ParseMode(cmp.Or(s.Mode, string(permission.ModeYolo)))
	if err != nil {
		return permission.Policy{}, err
	}
	real, err := filepath.EvalSymlinks(dir)
	return permission.Policy{Mode: mode, Boxed: true, Absent: s.Absent, Dir: real, Session: id}, err
}

// Grant refuses.
func (Authority) Grant(string, []json.RawMessage) error {
	return fmt.Errorf("grants are not kept here: %w", pawl.ErrInvalid)
}
