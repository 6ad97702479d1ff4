package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// maxListed bounds the changed files that are listed after an isolated session.
const maxListed = 20

// AddIsolated adds the flag --isolated to a command that starts sessions.
func AddIsolated(cmd *cobra.Command, isolated *bool) {
	cmd.Flags().BoolVar(isolated, "isolated", false, "work on a copy-on-write view of the project, and apply or discard the changes at the end")
	cmd.MarkFlagsMutuallyExclusive("isolated", "attach")
	cmd.MarkFlagsMutuallyExclusive("isolated", "add-dir")
	cli.GroupFlags(cmd, cli.FlagsSession, "isolated")
}

// views returns the store of views.
func views() (isolate.Store, error) {
	dir, err := config.Isolated()
	return isolate.Store{Dir: dir}, err
}

// EnterView runs this command again on the view of an isolated session, and then tells what
// it has changed. done is false if the command is to run here: its session is not
// isolated, or this process sees its view already.
func EnterView(cmd *cobra.Command, want bool, name string, last bool) (done bool, err error) {
	if isolate.Inside() != "" || !want && name == "" && !last {
		return false, nil
	}
	v, found, err := findView(cmd, name, last)
	if err != nil || !found && !want {
		return false, err
	}
	dir, err := app.WorkingDir()
	if err != nil {
		return false, err
	}
	if !found {
		if v, err = createView(cmd.Context(), dir); err != nil {
			return false, err
		}
	}
	in, ok := cmd.InOrStdin().(*os.File)
	code, err := v.Run(dir, os.Args[1:], ok && cli.IsTerminal(in))
	if err != nil {
		return true, err
	}
	if err := conclude(cmd, v, code == 0); err != nil {
		return true, err
	}
	if code != 0 {
		return true, &cli.ExitError{Code: code}
	}
	return true, nil
}

// findView returns the view of the named session.
func findView(cmd *cobra.Command, name string, last bool) (v isolate.View, found bool, err error) {
	if last {
		name = cli.Last
	}
	if name == "" {
		return v, false, nil
	}
	store, err := views()
	if err != nil {
		return v, false, err
	}
	if list, err := store.List(); err != nil || len(list) == 0 {
		return v, false, err
	}
	err = cli.WithSession(cmd, name, func(_ context.Context, _ *app.App, s pawl.Session) error {
		v, found, err = store.Find(s.ID)
		return err
	})
	return v, found, err
}

// createView creates a view of the project in a directory.
func createView(ctx context.Context, dir string) (isolate.View, error) {
	store, err := views()
	if err == nil {
		err = CheckIsolation(ctx, dir)
	}
	if err != nil {
		return isolate.View{}, err
	}
	return store.Create(dir)
}

// CheckIsolation returns an error if sessions in a directory cannot be isolated. It also checks
// what an isolated process cannot: who owns the sandbox and the managed policy.
func CheckIsolation(ctx context.Context, dir string) error {
	if _, err := config.LoadManaged(); err != nil {
		return err
	}
	if backend, _ := sandbox.Detect(ctx); backend.Name() != "bubblewrap" {
		return fault.New(pawl.ErrInvalid, "isolated sessions need the sandbox bubblewrap").Hint("Run `pawl doctor` to see what is missing.")
	}
	store, err := views()
	if err != nil {
		return err
	}
	return store.Check(dir)
}

// conclude tells what was changed in a view, and asks what to do with it if somebody is there. A view without
// changes is removed if the session ended.
func conclude(cmd *cobra.Command, v isolate.View, ended bool) error {
	ctx, w := context.WithoutCancel(cmd.Context()), cmd.ErrOrStderr()
	changes, refused, err := v.Changes(ctx)
	if err != nil {
		return err
	}
	sessions, err := v.Sessions()
	if err != nil {
		return err
	}
	switch unchanged := len(changes)+len(refused) == 0; {
	case len(sessions) == 0 && !unchanged:
		return fmt.Errorf("no session has recorded the changes in %s", v.Kept())
	case unchanged && (ended || len(sessions) == 0):
		fmt.Fprintln(w, "pawl: the isolated session has changed nothing")
		return v.Discard()
	}
	id := string(sessions[0])
	fmt.Fprintf(w, "pawl: the isolated session has changed %s; the project is untouched:\n", humanize.Plural(files(changes), "file"))
	printChanges(w, changes, maxListed)
	for _, r := range refused {
		fmt.Fprintf(w, "  %s cannot be applied: %s\n", sanitize.Line(r.Path), r.Reason)
	}
	if cli.Attended(cmd) {
		return choose(cmd, v, id, changes)
	}
	fmt.Fprintf(w, "pawl: to see, apply, commit or discard this, or to continue:\n  pawl session changes %[1]s\n  pawl session apply %[1]s\n  pawl session branch %[1]s NAME\n  pawl session discard %[1]s\n  pawl -s %[1]s\n", id)
	return nil
}

// choose asks what to do with the changes of a view, after it has shown them as a diff if the
// user wants to see that.
func choose(cmd *cobra.Command, v isolate.View, id string, changes []tree.Change) error {
	for in := bufio.NewReader(cmd.InOrStdin()); ; {
		fmt.Fprint(cmd.ErrOrStderr(), "Show the diff, apply the changes, commit them to a new branch, discard them, or keep them for later? [s/a/b/d/K] ")
		text, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "s", "show":
			if err := printPatch(cmd.ErrOrStderr(), v, changes); err != nil {
				return err
			}
			continue
		case "a", "apply":
			return apply(cmd, v)
		case "b", "branch":
			return branch(cmd, v, "pawl/"+strings.ToLower(id), id)
		case "d", "discard":
			return v.Discard()
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "Kept. Run `pawl session apply %[1]s` or `pawl session discard %[1]s` later.\n", id)
		return nil
	}
}

// apply applies the changes of a view and reports the outcome.
func apply(cmd *cobra.Command, v isolate.View) error {
	out, err := v.Apply(context.WithoutCancel(cmd.Context())) // half of the changes would be worse than all or none
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Applied %s.\n", humanize.Plural(files(out.Applied), "file change"))
	if len(out.Refused) == 0 {
		return nil
	}
	for _, r := range out.Refused {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s not changed: %s\n", sanitize.Line(r.Path), r.Reason)
	}
	return fault.New(pawl.ErrConflict, "not applied: %s", humanize.Plural(len(out.Refused), "change")).Hint("The session's versions are in %s.", v.Kept())
}

// branch commits the changes of a view to a branch.
func branch(cmd *cobra.Command, v isolate.View, name, id string) error {
	commit, refused, err := v.Branch(cmd.Context(), name, "Changes of the isolated session "+id)
	if err != nil {
		return err
	}
	for _, r := range refused {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s not committed: %s\n", sanitize.Line(r.Path), r.Reason)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Committed the changes to %s (%.12s).\n", name, commit)
	return nil
}

// isDir reports whether a change is about a directory itself.
func isDir(c tree.Change) bool {
	return c.New.Type == tree.Dir || c.Old.Type == tree.Dir && c.New.Type == tree.Missing
}

// files counts the changes of files and links.
func files(changes []tree.Change) (n int) {
	for _, c := range changes {
		if !isDir(c) {
			n++
		}
	}
	return n
}

// status returns the letter that git shows for a change.
func status(c tree.Change) string {
	switch {
	case c.Old.Type == tree.Missing:
		return "A"
	case c.New.Type == tree.Missing:
		return "D"
	}
	return "M"
}

// printChanges lists changed files, up to a limit; 0 means all.
func printChanges(w io.Writer, changes []tree.Change, limit int) {
	n := 0
	for _, c := range changes {
		if isDir(c) {
			continue
		}
		if n++; limit == 0 || n <= limit {
			fmt.Fprintf(w, "  %s %s\n", status(c), sanitize.Line(c.Path))
		}
	}
	if limit > 0 && n > limit {
		fmt.Fprintf(w, "  and %d more\n", n-limit)
	}
}

// maxDiffed bounds a file of which the diff is shown, in bytes.
const maxDiffed = 1 << 20

// printPatch prints the changes of text files as a diff.
func printPatch(w io.Writer, v isolate.View, changes []tree.Change) error {
	for _, c := range changes {
		if isDir(c) {
			continue
		}
		before, ok := textOf(filepath.Join(v.Root, c.Path), c.Old)
		after, readable := textOf(filepath.Join(v.Kept(), c.Path), c.New)
		name := sanitize.Line(c.Path)
		if !ok || !readable || before == after {
			fmt.Fprintf(w, "%s %s: not shown as text\n", status(c), name)
			continue
		}
		from, to := "a/"+name, "b/"+name
		if c.Old.Type == tree.Missing {
			from = os.DevNull
		}
		if c.New.Type == tree.Missing {
			to = os.DevNull
		}
		if _, err := io.WriteString(w, sanitize.Text(udiff.Unified(from, to, before, after))); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns the text of a file, or "" for one that is missing.
func textOf(path string, st tree.Stat) (string, bool) {
	if st.Type == tree.Missing {
		return "", true
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDiffed {
		return "", false
	}
	text, err := os.ReadFile(path)
	return string(text), err == nil && utf8.Valid(text)
}
