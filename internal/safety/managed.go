package safety

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/permission"
)

// modes are ordered by how much they let an agent do unasked.
var modes = []permission.Mode{permission.ModePlan, permission.ModeAsk, permission.ModeGuard, permission.ModeAuto, permission.ModeYolo}

// Managed is the policy of this machine's administrator.
func (s *Safety) Managed() (config.Managed, error) {
	return s.managed.get(config.ManagedFile, config.LoadManaged)
}

// manage applies the administrator's policy. What it does not permit is an
// error, or denied; nothing is made to look permitted and is then another.
func (s *Safety) manage(p *permission.Policy) error {
	m, err := s.Managed()
	if err != nil {
		return err
	}
	if m.MaxMode != "" {
		most, err := permission.ParseMode(m.MaxMode)
		if err != nil {
			return fmt.Errorf("read the policy of this machine: %w", err)
		}
		if slices.Index(modes, p.Mode) > slices.Index(modes, most) {
			return fmt.Errorf("the policy of this machine (%s) permits no mode looser than %s: use --mode %s: %w", config.ManagedFile, most, most, pawl.ErrDenied)
		}
	}
	rules, err := permission.ParseRules(m.Rules, permission.OriginUser)
	if err != nil {
		return fmt.Errorf("read the policy of this machine: %w", err)
	}
	if m.SandboxRequired {
		if p.Mode == permission.ModeYolo {
			return fmt.Errorf("the policy of this machine (%s) permits commands in a sandbox only, and the mode yolo has none: %w", config.ManagedFile, pawl.ErrDenied)
		}
		denied := permission.Rule{Kind: pawl.AccessEscape, Decision: permission.Deny, Origin: permission.OriginUser}
		if rules = append(rules, denied); !p.Boxed {
			denied.Kind = pawl.AccessExec
			rules = append(rules, denied)
		}
	}
	p.Rules = append(p.Rules, rules...)
	return nil
}
