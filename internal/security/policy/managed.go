package policy

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// modes are all permission modes, the strictest first.
var modes = []permission.Mode{permission.ModePlan, permission.ModeAsk, permission.ModeGuard, permission.ModeAuto, permission.ModeYolo}

// Managed returns the policy of this machine's administrator.
func (s *Safety) Managed() (config.Managed, error) {
	return s.managed.get(config.ManagedFile, config.LoadManaged)
}

// Modes returns the modes that may be used on this machine, the strictest first.
func (s *Safety) Modes() ([]permission.Mode, error) {
	m, err := s.Managed()
	if err != nil {
		return nil, err
	}
	most := permission.ModeYolo
	if m.MaxMode != "" {
		if most, err = permission.ParseMode(m.MaxMode); err != nil {
			return nil, fmt.Errorf("read the managed policy: %w", err)
		}
	}
	allowed := slices.Clone(modes[:slices.Index(modes, most)+1])
	if m.SandboxRequired { // yolo has none
		allowed = slices.DeleteFunc(allowed, func(mode permission.Mode) bool { return mode == permission.ModeYolo })
	}
	return allowed, nil
}

// ManagedHooks returns the hook commands of the administrator's policy. Anything
// invalid is an error: a hook that is left out would not protect anything.
func ManagedHooks(m config.Managed) ([]hook.External, error) {
	var list hookList
	if err := list.addKey(m.Hooks, hook.Origin{File: config.ManagedFile, Layer: hook.LayerManaged}); err != nil {
		return nil, fmt.Errorf("read the managed policy: %w", err)
	}
	for _, f := range list.faults {
		return nil, fault.New(pawl.ErrInvalid, "read the managed policy: %s", f).Hint("Ask your administrator to correct it.")
	}
	return list.commands, nil
}

// manage applies the administrator's policy. A setting that it does not permit is an
// error or denied; it is never silently replaced by another.
func (s *Safety) manage(p *permission.Policy) error {
	m, err := s.Managed()
	if err != nil {
		return err
	}
	if m.MaxMode != "" {
		most, err := permission.ParseMode(m.MaxMode)
		if err != nil {
			return fmt.Errorf("read the managed policy: %w", err)
		}
		if slices.Index(modes, p.Mode) > slices.Index(modes, most) {
			return fault.New(pawl.ErrDenied, "the managed policy (%s) allows no mode more permissive than %s", config.ManagedFile, most).Hint("Use --mode %s.", most)
		}
	}
	rules, err := permission.ParseRules(m.Rules, permission.OriginUser)
	if err != nil {
		return fmt.Errorf("read the managed policy: %w", err)
	}
	if m.SandboxRequired {
		if p.Mode == permission.ModeYolo {
			return fault.New(pawl.ErrDenied, "the managed policy (%s) requires the sandbox, which mode yolo does not use", config.ManagedFile).Hint("Choose another --mode.")
		}
		denied := permission.Rule{Kind: pawl.AccessEscape, Decision: permission.Deny, Origin: permission.OriginUser}
		if rules = append(rules, denied); !p.Sandboxed {
			denied.Kind = pawl.AccessExec
			rules = append(rules, denied)
		}
	}
	p.Rules = append(p.Rules, rules...)
	return nil
}
