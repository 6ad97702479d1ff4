package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

// checkTime is the timeout of each check that runs a program or connects to a server.
const checkTime = 10 * time.Second

// checkSandbox reports which sandbox is used, and whether it works in the working directory.
func checkSandbox(ctx context.Context) []Finding {
	backend, report := sandbox.Detect(ctx)
	head := Finding{Name: "sandbox", Status: OK, Detail: backend.Name()}
	switch backend.Name() {
	case "none":
		head.Status, head.Detail = Warn, "not available: Pawl asks before every command"
	case "landlock":
		head.Status, head.Detail = Warn, "Landlock, which protects less than bubblewrap (see docs/explanation/sandbox.md)"
	}
	findings := []Finding{head}
	for _, f := range report.Findings {
		line := Finding{Name: f.Name, Status: OK, Detail: f.Detail}
		if !f.OK {
			line.Status, line.Fix = Warn, sentence(f.Fix)
		}
		findings = append(findings, line)
	}
	if backend.Name() != "none" {
		findings = append(findings, checkWorkspace(ctx, backend), checkTransactions(ctx))
	}
	return findings
}

// checkTransactions reports how commands get a view of the working directory.
func checkTransactions(ctx context.Context) Finding {
	dir, err := app.WorkingDir()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	var s *policy.Safety
	if err == nil {
		s, err = policy.Open()
	}
	var view policy.View
	if err == nil {
		view, err = s.View(ctx, dir)
	}
	if err != nil {
		return Finding{Name: "transactions", Status: Fail, Detail: "commands cannot run: " + err.Error(), Fix: fault.HintOf(err)}
	}
	f := Finding{Name: "transactions", Status: OK, Detail: view.String(), Fix: view.Fix()}
	if view.Reason != nil {
		f.Status = Warn
	}
	return f
}

// sentence returns the fix of a sandbox finding, which may be a command, as a sentence.
func sentence(fix string) string {
	if fix == "" || fix[0] >= 'A' && fix[0] <= 'Z' {
		return fix
	}
	return "To fix it: " + fix + "."
}

func checkWorkspace(ctx context.Context, backend sandbox.Backend) Finding {
	f := Finding{Name: "workspace", Status: OK}
	dir, err := app.WorkingDir()
	if err == nil {
		f.Detail = dir
		err = trySandbox(ctx, backend, dir)
	}
	if err != nil {
		f.Status, f.Detail = Warn, err.Error()
		f.Fix = "Start Pawl in the directory of a project."
	}
	return f
}

func trySandbox(ctx context.Context, backend sandbox.Backend, dir string) error {
	s, err := policy.Open()
	if err != nil {
		return err
	}
	p, err := s.Profile(ctx, dir)
	if err != nil {
		return err
	}
	p.ReadOnly = true // the test command writes nothing
	w, err := backend.Wrap([]string{"true"}, p)
	if err == nil {
		w.Close()
	}
	return err
}

func checkConfig() Finding {
	f := Finding{Name: "config", Status: OK}
	path, err := config.UserFile()
	if err == nil {
		f.Detail = path
		if _, statErr := os.Stat(path); errors.Is(statErr, os.ErrNotExist) {
			f.Detail = "none (" + path + ")"
		}
		var user config.User
		var warnings []config.Finding
		if user, warnings, err = config.ReadUser(); len(warnings) > 0 {
			f.Status, f.Detail, f.Fix = Warn, warnings[0].String(), "Run `pawl config check` to see all problems."
		}
		if err == nil {
			_, err = app.LanguageServers(user)
		}
	}
	if err != nil {
		f.Status, f.Detail, f.Fix = Fail, err.Error(), cmp.Or(fault.HintOf(err), "Correct the file with `pawl config edit`, or delete it.")
	}
	return f
}

// checkFolder reports the directory of the user's agents, commands, rules and skills.
func checkFolder() Finding {
	f := Finding{Name: "config_dir", Status: OK}
	dir, err := config.UserFolder()
	switch f.Detail = dir; {
	case err != nil:
		f.Status, f.Detail, f.Fix = Fail, err.Error(), "Set HOME or XDG_CONFIG_HOME."
	case os.Getenv("PAWL_CONFIG") != "":
		f.Detail += " (PAWL_CONFIG changes only the path of the file)"
	}
	return f
}

// checkExtensions reports how many extensions are active.
func checkExtensions(v *inventory.Inventory, err error) Finding {
	f := Finding{Name: "extensions", Status: OK}
	if err != nil {
		f.Status, f.Detail = Warn, err.Error()
		return f
	}
	f.Detail = v.WithoutInternal().Summary()
	return f
}

// checkPolicy reports whether this machine has a managed policy.
func checkPolicy() Finding {
	f := Finding{Name: "policy", Status: OK, Detail: "none (" + config.ManagedFile + ")"}
	m, err := config.LoadManaged()
	switch {
	case err != nil:
		f.Status, f.Detail, f.Fix = Fail, err.Error(), cmp.Or(fault.HintOf(err), "Ask your administrator.")
	case m.MaxMode != "" || m.Rules != nil || m.SandboxRequired:
		f.Detail = config.ManagedFile + " (see `pawl config managed`)"
	}
	return f
}

// checkTrust reports whether the project configuration of the working directory is trusted.
func checkTrust(ctx context.Context, v *inventory.Inventory) Finding {
	f := Finding{Name: "trust", Status: OK}
	folder, err := v.Project, v.ProjectErr
	var unread error // reading the project configuration, as if it were trusted
	if err == nil {
		var s *policy.Safety
		if s, err = policy.Open(); err == nil {
			_, _, unread = s.Project(ctx, ".", true)
		}
	}
	switch {
	case err != nil:
		f.Status, f.Detail = Warn, err.Error()
	case len(folder.Parts) == 0:
		f.Detail = "this project has no configuration that needs it"
	case folder.State == trust.Trusted && unread != nil:
		f.Status, f.Detail, f.Fix = Fail, unread.Error(), "Correct the file, or run `pawl trust --revoke`."
	case folder.State == trust.Trusted:
		f.Detail = "this project is trusted"
	case unread != nil:
		f.Status, f.Detail = Warn, "this project is not trusted, and its configuration is invalid: "+unread.Error()
	default:
		f.Detail = fmt.Sprintf("not trusted, %s of the project configuration inactive (see `pawl trust`)", humanize.Plural(len(folder.Parts), "part"))
	}
	return f
}

func checkStore(ctx context.Context) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	f := Finding{Name: "store", Status: OK}
	ref, err := config.Store()
	if err == nil {
		if f.Detail = ref; strings.Contains(ref, "://") {
			f.Detail = "PostgreSQL" // the URL may contain a password
		}
		var st interface{ Close() error }
		if st, err = backend.Open(ctx, ref); err == nil {
			err = st.Close()
		}
	}
	if err != nil {
		f.Status, f.Detail, f.Fix = Fail, err.Error(), cmp.Or(fault.HintOf(err), "Check PAWL_STORE and PAWL_DATA (see docs/reference/config.md).")
	}
	return f
}

func checkKeys() Finding {
	f := Finding{Name: "keys", Status: OK}
	c, keys, err := app.CatalogAndKeys()
	var found []app.FoundKey
	if err == nil {
		found, err = app.FindKeys(keys, c.Providers)
	}
	var names []string
	for _, k := range found {
		names = append(names, k.Provider)
	}
	switch f.Detail = strings.Join(names, ", "); {
	case err != nil:
		f.Status, f.Detail, f.Fix = Fail, err.Error(), cmp.Or(fault.HintOf(err), "Run `pawl auth list`.")
	case len(names) == 0:
		f.Status, f.Detail, f.Fix = Warn, "none found", "Run `pawl auth login anthropic`, or start Ollama to use a local model."
	}
	return f
}

// checkProgram reports the version of a program that pawl runs. If the program is not found, the
// status is missing and without describes the consequences.
func checkProgram(ctx context.Context, name, missing, without string, args ...string) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	f := Finding{Name: name, Status: OK}
	if name == "rg" {
		f.Name = "ripgrep"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		f.Status, f.Detail, f.Fix = missing, "not found: "+without, "Install "+f.Name+"."
		return f
	}
	if inside(path) {
		f.Status, f.Detail, f.Fix = Warn, path+" is in the working directory, so Pawl does not run it", "Change PATH so that an installed "+f.Name+" comes first."
		return f
	}
	out, err := exec.CommandContext(ctx, path, args...).Output() //nolint:gosec // a fixed name
	if err != nil {
		f.Status, f.Detail, f.Fix = missing, fmt.Sprintf("%s does not run: %v", path, err), "Reinstall "+f.Name+"."
		return f
	}
	f.Detail, _, _ = strings.Cut(string(out), "\n")
	return f
}

// inside reports whether a program is in the working directory, directly or through symbolic links.
// Such a program must not be run, because it may come from an untrusted repository. After an error,
// inside returns true.
func inside(program string) bool {
	dir, err := app.WorkingDir()
	real, err2 := filepath.EvalSymlinks(program)
	if err != nil || err2 != nil {
		return true
	}
	for _, path := range []string{program, real, filepath.Dir(program)} {
		if rel, err := filepath.Rel(dir, path); err != nil || filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

func checkTerminal() Finding {
	f := Finding{Name: "terminal", Status: OK, Detail: "none, output is plain text"}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		f.Detail = "TERM=" + os.Getenv("TERM")
		if width, height, err := term.GetSize(fd); err == nil {
			f.Detail += fmt.Sprintf(", %dx%d", width, height)
		}
		if t := os.Getenv("TERM"); t == "" || t == "dumb" {
			f.Status, f.Fix = Warn, "Set TERM to the type of your terminal, e.g. xterm-256color."
		}
	}
	return f
}

// checkMissions reports whether the requirements of missions are met.
func checkMissions(ctx context.Context) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	f := Finding{Name: "missions", Status: OK}
	dir, err := app.WorkingDir()
	var g *git.Git
	if err == nil {
		g, err = git.Find(ctx, dir)
	}
	if err == nil {
		err = g.AtLeast(app.MissionGitMajor, app.MissionGitMinor)
	}
	if err != nil {
		f.Status, f.Detail, f.Fix = Warn, "not available: "+err.Error(), fmt.Sprintf("Install git %d.%d or newer.", app.MissionGitMajor, app.MissionGitMinor)
		return f
	}
	if backend, _ := sandbox.Detect(ctx); backend.Name() == "none" {
		f.Status, f.Detail, f.Fix = Warn, "not available: workers and checks need the sandbox", "Fix the sandbox first."
		return f
	}
	f.Detail = "available (git " + g.Version() + ", sandbox)"
	return f
}

// checkSnapshots reports whether the file changes of tool calls can be undone.
func checkSnapshots(ctx context.Context) Finding {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	f := Finding{Name: "snapshots", Status: OK}
	s, err := app.OpenSnapshots(ctx)
	if err != nil {
		f.Status, f.Detail, f.Fix = Warn, "not available, file changes cannot be undone: "+err.Error(), "Install git 2.32 or newer."
		return f
	}
	f.Detail = s.Dir
	return f
}
