package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/security/namespace"
)

// preflightTime bounds the test run of a command in a sandbox.
const preflightTime = 10 * time.Second

// bubblewrapPaths is where bwrap is searched, instead of in PATH, which may contain a
// workspace.
var bubblewrapPaths = []string{
	"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap", "/opt/bin/bwrap",
}

func detect(ctx context.Context) (Backend, Report) {
	var r Report
	path, finding := findBubblewrap(bubblewrapPaths)
	if path != "" {
		backend := &Bubblewrap{Path: path}
		err := preflight(ctx, backend)
		if err == nil {
			finding.Detail = path
			finding.OK = true
			r.Findings = append(r.Findings, finding, seccompFinding(), landlockFinding())
			return backend, r
		}
		finding.Detail, finding.Fix = diagnose(err.Error(), readFacts(path))
	}
	r.Findings = append(r.Findings, finding, seccompFinding())
	l := landlockFinding()
	if l.OK {
		if err := preflight(ctx, &Landlock{}); err != nil {
			l.OK, l.Detail = false, err.Error()
		}
	}
	r.Findings = append(r.Findings, l)
	if l.OK {
		return &Landlock{}, r
	}
	return None{Why: finding.Detail + "; landlock: " + l.Detail}, r
}

// findBubblewrap returns the real path of a bwrap that only root can change, or "" and
// the problem.
func findBubblewrap(paths []string) (string, Finding) {
	f := Finding{Name: "bubblewrap", Detail: "bwrap is not installed", Fix: installBubblewrap}
	for _, path := range paths {
		resolved, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = trusted(resolved)
		}
		if err == nil {
			return resolved, f
		}
		f.Detail = err.Error()
		f.Fix = "reinstall bubblewrap, or run: chown root:root " + path + " && chmod 755 " + path
	}
	return "", f
}

// trusted returns an error if others than root could change a program.
func trusted(path string) error {
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !namespace.IsRoot(st.Uid) {
			return fmt.Errorf("%s is not owned by root", dir)
		}
		if info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
			return fmt.Errorf("%s is writable by users other than root", dir)
		}
		if dir == path && (!info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0) {
			return fmt.Errorf("%s is not an executable", path)
		}
		if dir == "/" {
			return nil
		}
	}
}

// preflight runs a command in the sandbox to test it.
func preflight(ctx context.Context, backend Backend) error {
	dir, err := os.MkdirTemp("", "pawl-preflight-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is empty
	return try(ctx, backend, Profile{Dir: dir, ReadOnly: true})
}

var _ Viewer = (*Bubblewrap)(nil)

// TryView runs a command that does nothing.
func (b *Bubblewrap) TryView(ctx context.Context, p Profile) error {
	for _, v := range overlays(p.Views) {
		if err := checkOverlay(ctx, v.Dir); err != nil {
			return err
		}
	}
	return try(ctx, b, p)
}

func try(ctx context.Context, backend Backend, p Profile) error {
	ctx, cancel := context.WithTimeout(ctx, preflightTime)
	defer cancel()
	program := resolve("/bin/sh")
	w, err := backend.Wrap([]string{program, "-c", "exit 42"}, p)
	if err != nil {
		return err
	}
	defer w.Close()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, w.Args[0], w.Args[1:]...) //nolint:gosec // found by us
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr, cmd.Dir = w.Env, w.Files, w.Attr, "/"
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 42 {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if text := strings.TrimSpace(output.String()); text != "" {
		return errors.New(text)
	}
	return fmt.Errorf("run a command in the sandbox: %w", err)
}

func seccompFinding() Finding {
	f := Finding{Name: "seccomp", OK: true, Detail: "filter for " + runtime.GOARCH}
	if _, err := localFilter(); err != nil {
		f.OK, f.Detail, f.Fix = false, err.Error(), "none: only amd64 and arm64 are supported"
	} else if !exists("/proc/sys/kernel/seccomp") {
		f.OK, f.Detail, f.Fix = false, "the kernel does not support seccomp", "use a kernel with CONFIG_SECCOMP_FILTER"
	}
	return f
}

func landlockFinding() Finding {
	f := Finding{Name: "landlock"}
	switch abi := landlockABI(); {
	case abi == 0:
		f.Detail, f.Fix = "the kernel does not support Landlock", "use Linux 6.12 or later, with landlock in the boot parameter lsm="
	case abi < landlockFloor:
		f.Detail = fmt.Sprintf("ABI %d, but %d is required", abi, landlockFloor)
		f.Fix = "use Linux 6.12 or later"
	default:
		f.OK, f.Detail = true, fmt.Sprintf("ABI %d", abi)
	}
	return f
}
