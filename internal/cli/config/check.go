package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/mission/webhook"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
	"github.com/pawl-dev/pawl/internal/model/script"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// output is the output format of a command.
type output string

const (
	outputText output = "text"
	outputJSON output = "json"
)

func configCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [file]",
		Short: "Check the configuration for errors",
		Long: `Check your configuration, the project configuration and the managed policy: unknown
keys, wrong types, permission rules that contradict their examples, unknown models,
secrets that other users can read. With a file, check only that file: as a project
configuration if its path ends with .pawl/config.json, otherwise as your own.

Exit codes: 0 no errors (there may be warnings), 1 errors.`,
		Example: `  pawl config check
  pawl config check .pawl/config.json
  pawl config check --json`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			findings, err := checkFiles(args)
			if err != nil {
				return err
			}
			how := outputText
			if asJSON {
				how = outputJSON
			}
			return reportFindings(cmd, findings, how)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// reportFindings prints the findings. It returns an ExitError if one of them is an error.
func reportFindings(cmd *cobra.Command, findings []config.Finding, how output) error {
	var err error
	if how == outputJSON {
		err = cli.WriteJSON(cmd.OutOrStdout(), append([]config.Finding{}, findings...))
	}
	bad := false
	for _, f := range findings {
		bad = bad || f.Level == config.LevelError
		if how == outputText {
			fmt.Fprintln(cmd.OutOrStdout(), sanitize.Line(f.String()))
		}
	}
	if err == nil && bad {
		err = &cli.ExitError{Code: cli.ExitFailed}
	}
	return err
}

// checkFiles checks the named file or, without arguments, all configuration files for the working
// directory.
func checkFiles(args []string) ([]config.Finding, error) {
	if len(args) > 0 {
		return checkFile(args[0])
	}
	path, err := config.UserFile()
	if err != nil {
		return nil, err
	}
	dir, err := app.WorkingDir()
	if err != nil {
		return nil, err
	}
	findings := append(CheckUserFile(path), checkManaged()...)
	return append(findings, checkProject(dir)...), nil
}

func checkFile(path string) ([]config.Finding, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(full); err != nil {
		return nil, err
	}
	if dir, ok := strings.CutSuffix(full, "/"+config.ProjectFile); ok {
		return checkProject(dir), nil
	}
	return CheckUserFile(path), nil
}

// CheckUserFile checks a user configuration file.
func CheckUserFile(path string) []config.Finding {
	return config.CheckUser(path, func(u config.User) []config.Finding {
		return slices.Concat(checkRules(u.Permissions.Rules, permission.OriginUser), checkModels(u), checkCalls(u), checkLanguages(u), checkTUI(u), checkMission(u))
	})
}

// checkRules checks permission rules and their examples. It warns about rules of a project that
// allow something: they are ignored.
func checkRules(text json.RawMessage, origin permission.Origin) (findings []config.Finding) {
	if text == nil {
		return nil
	}
	var rules []json.RawMessage
	if err := json.Unmarshal(text, &rules); err != nil {
		return []config.Finding{{Level: config.LevelError, Key: "permissions.rules", Message: "permissions.rules must be a list of rules"}}
	}
	for i, raw := range rules {
		key := fmt.Sprintf("permissions.rules.%d", i)
		parsed, err := permission.ParseRules(json.RawMessage("["+string(raw)+"]"), origin)
		switch {
		case err != nil:
			text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "rule 1, "), "read rules: ")
			findings = append(findings, config.Finding{Level: config.LevelError, Key: key, Message: fmt.Sprintf("rule %d, %s", i+1, text)})
		case origin == permission.OriginProject && parsed[0].Decision == permission.Allow:
			findings = append(findings, config.Finding{Level: config.LevelWarning, Key: key, Message: fmt.Sprintf("rule %d, %s is ignored: a project may only ask or deny", i+1, parsed[0])})
		}
	}
	if _, err := permission.ParseRules(text, origin); err != nil && len(findings) == 0 {
		findings = append(findings, config.Finding{Level: config.LevelError, Key: "permissions.rules", Message: err.Error()})
	}
	return findings
}

// checkModels warns about models and providers that are not in the catalog.
func checkModels(u config.User) (findings []config.Finding) {
	warn := func(key string, err error) {
		findings = append(findings, config.Finding{Level: config.LevelWarning, Key: key, Message: key + ": " + err.Error()})
	}
	c, err := app.OpenCatalog()
	if err != nil {
		warn("model", err)
		return findings
	}
	look := func(key, ref string) {
		if ref == "" || ref == "none" || ref == script.DemoRef || strings.HasPrefix(ref, "script:") {
			return
		}
		if _, err := c.Lookup(ref); err != nil {
			warn(key, err)
		}
	}
	look("model", u.Model)
	if u.SmallModel != nil {
		look("small_model", *u.SmallModel)
	}
	for i, ref := range u.Fallback {
		look(fmt.Sprintf("fallback.%d", i), ref)
	}
	look("mission.worker_model", u.Mission.WorkerModel)
	for i, ref := range u.Mission.Reviewers {
		look(fmt.Sprintf("mission.reviewers.%d", i), ref)
	}
	for _, id := range slices.Sorted(maps.Keys(u.Providers)) {
		if id == "script" { // not in the catalog, but its calls can be limited
			continue
		}
		if _, err := c.Provider(id); err != nil {
			warn("providers."+id, err)
		} else if calls := u.Providers[id].Calls; calls != nil {
			for _, name := range slices.Sorted(maps.Keys(calls.Models)) {
				look("providers."+id+".calls.models", id+"/"+name)
			}
		}
	}
	return findings
}

// checkCalls checks the limits for concurrent model requests.
func checkCalls(u config.User) []config.Finding {
	if _, err := ratelimit.New(app.CallBounds(u)); err != nil {
		return []config.Finding{{Level: config.LevelError, Key: "providers", Message: err.Error()}}
	}
	return nil
}

// checkMission checks how long asks wait, and the settings for missions and their notices, except the models.
func checkMission(u config.User) (findings []config.Finding) {
	bad := func(key string, err error) {
		findings = append(findings, config.Finding{Level: config.LevelError, Key: key, Message: err.Error()})
	}
	if _, err := u.Permissions.AskWait(); err != nil {
		bad("permissions.ask_timeout", err)
	}
	if _, err := u.Mission.StuckAfter(); err != nil {
		bad("mission.stuck", err)
	}
	if u.Notify.Webhook != "" {
		if err := webhook.CheckURL(u.Notify.Webhook); err != nil {
			bad("notify.webhook", err)
		}
	}
	if n := u.Mission.Workers; n < 0 || n > pawl.MissionMaxWorkers {
		bad("mission.workers", fmt.Errorf("mission.workers is %d: use a number from 1 to %d", n, pawl.MissionMaxWorkers))
	}
	if n := len(u.Mission.Reviewers); n > pawl.MaxReviewers {
		bad("mission.reviewers", fmt.Errorf("mission.reviewers has %d models: use at most %d", n, pawl.MaxReviewers))
	}
	return findings
}

// checkManaged checks the managed policy of this machine.
func checkManaged() []config.Finding {
	m, err := config.LoadManaged()
	if err == nil && m.MaxMode != "" {
		_, err = permission.ParseMode(m.MaxMode)
	}
	if err == nil {
		_, err = permission.ParseRules(m.Rules, permission.OriginUser)
	}
	if err == nil {
		_, err = policy.ManagedHooks(m)
	}
	if err != nil {
		return []config.Finding{{Level: config.LevelError, File: config.ManagedFile, Message: err.Error()}}
	}
	return nil
}

// checkProject checks the configuration file of a project. The project need not be trusted.
func checkProject(dir string) []config.Finding {
	read := func(name string) ([]byte, error) {
		root, err := os.OpenRoot(dir) // does not follow links out of dir
		if err != nil {
			return nil, err
		}
		defer root.Close()
		info, err := root.Lstat(filepath.FromSlash(name))
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
		if err != nil {
			return nil, err
		}
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		const most = 2 << 20 // more than the maximum size of the file
		return io.ReadAll(io.LimitReader(f, most))
	}
	return config.CheckProject(read, func(p config.Project) []config.Finding { return checkRules(p.Rules, permission.OriginProject) })
}

// checkLanguages checks the settings for language servers.
func checkLanguages(u config.User) []config.Finding {
	if _, err := app.LanguageServers(u); err != nil {
		return []config.Finding{{Level: config.LevelError, Key: "lsp", Message: err.Error()}}
	}
	return nil
}
