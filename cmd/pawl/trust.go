package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/trust"
)

// trustFlags are what 'pawl trust' is asked for; at most one but for json.
type trustFlags struct{ yes, list, revoke, status, asJSON bool }

func trustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [folder]",
		Short: "Say whether what a folder brings may take effect",
		Long: `Show what a folder would enable (hooks, servers, agents, instructions, …) and ask
whether you trust it. Until you do, pawl works there without any of it.

Trust is for this very folder, and for what is there now: if something changes that
could get a program run, pawl asks again.

Exit codes: 0 if the folder is trusted, 3 if not.`,
		Example: `  pawl trust
  pawl trust --yes .          # without a question, for scripts
  pawl trust --status --json
  pawl trust --list
  pawl trust --revoke ~/old`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.several() {
				return usageError(cmd, errors.New("use one of --yes, --list, --revoke and --status"))
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return f.run(cmd, dir)
		},
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "trust the folder, do not ask")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the folders that you trust")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "trust the folder no longer")
	cmd.Flags().BoolVar(&f.status, "status", false, "say whether the folder is trusted")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f trustFlags) several() bool {
	n := 0
	for _, set := range []bool{f.yes, f.list, f.revoke, f.status} {
		if set {
			n++
		}
	}
	return n > 1
}

func (f trustFlags) run(cmd *cobra.Command, dir string) error {
	store, err := openTrust()
	if err != nil {
		return err
	}
	switch {
	case f.list:
		return f.printTrusted(cmd.OutOrStdout(), store)
	case f.revoke:
		return store.Revoke(dir)
	}
	t, err := lookAt(cmd.Context(), store, dir)
	if err != nil {
		return err
	}
	if f.asJSON {
		err = writeJSON(cmd.OutOrStdout(), t)
	} else {
		_, err = io.WriteString(cmd.OutOrStdout(), t.text())
	}
	if err != nil {
		return err
	}
	switch {
	case t.State == trust.Trusted && !f.yes:
		return nil
	case f.status:
		return &exitError{code: exitDenied}
	case !f.yes:
		if err := f.ask(cmd); err != nil {
			return err
		}
	}
	// What was shown is what is trusted: what has changed since asks again.
	return store.Trust(t.Path, t.Hash, time.Now())
}

// ask asks the person at the terminal.
func (f trustFlags) ask(cmd *cobra.Command) error {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !isTerminal(in) {
		return &exitError{code: exitDenied, err: errors.New("nobody is here to be asked: if you trust the folder, use --yes")}
	}
	fmt.Fprint(cmd.ErrOrStderr(), "Do you trust it? [y/N] ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitDenied, err: errors.New("the folder is not trusted")}
}

func (f trustFlags) printTrusted(w io.Writer, store trust.Store) error {
	folders, approvals, err := store.List()
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(w, struct {
			Folders   []trust.Folder   `json:"folders"`
			Approvals []trust.Approval `json:"approvals"`
		}{append([]trust.Folder{}, folders...), append([]trust.Approval{}, approvals...)})
	}
	if len(folders)+len(approvals) == 0 {
		_, err := fmt.Fprintln(w, "no folder is trusted")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, d := range folders {
		fmt.Fprintf(t, "%s\t%s\n", d.At.Local().Format(time.DateOnly), trust.Plain(d.Path))
	}
	for _, a := range approvals {
		fmt.Fprintf(t, "%s\t%s, %s %s\n", a.At.Local().Format(time.DateOnly), trust.Plain(a.Path), trust.Plain(a.Kind), trust.Plain(a.Name))
	}
	return t.Flush()
}

// openTrust returns where trust is kept.
func openTrust() (trust.Store, error) {
	data, err := config.Data()
	if err != nil {
		return trust.Store{}, err
	}
	return trust.Store{Path: filepath.Join(data, "trust.json")}, nil
}

// folderTrust is what a folder brings, and whether it may take effect.
type folderTrust struct {
	Path  string      `json:"path"`
	State trust.State `json:"state"`
	Hash  string      `json:"hash"`
	Parts trust.Parts `json:"parts"`
}

func (t folderTrust) text() string {
	said := map[trust.State]string{
		trust.Trusted: "is trusted", trust.Changed: "has changed since you trusted it", trust.Unknown: "is not trusted",
	}
	return fmt.Sprintf("%s %s.\n%s", trust.Plain(t.Path), said[t.State], t.Parts.Show())
}

// lookAt says what a folder would enable and whether it is trusted. Nothing of
// the folder's is run or takes effect by this. A linked worktree is trusted with
// the folder that it was made from, if that repository names it as its own and
// what could run something is the same in both.
func lookAt(ctx context.Context, store trust.Store, dir string) (folderTrust, error) {
	t := folderTrust{State: trust.Unknown}
	var err error
	if dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	if t.Path, err = filepath.EvalSymlinks(dir); err != nil {
		return t, err
	}
	repo, err := openRepo(ctx, t.Path)
	switch {
	case err == nil:
		t.Parts, err = trust.SurveyRepository(t.Path, repo.Common)
	case errors.Is(err, pawl.ErrNotFound), errors.Is(err, pawl.ErrDenied): // no git, no repository, or one that is not to be believed
		t.Parts, err = trust.Survey(t.Path)
	}
	if err != nil {
		return t, err
	}
	t.Hash = t.Parts.Hash()
	if t.State, err = store.State(t.Path, t.Hash); err != nil || t.State != trust.Unknown {
		return t, err
	}
	if repo != nil && repo.Linked && repo.Top == t.Path && filepath.Base(repo.Common) == ".git" {
		if state, err := store.State(filepath.Dir(repo.Common), t.Hash); err != nil || state == trust.Trusted {
			t.State = state
			return t, err
		}
	}
	return t, nil
}

func openRepo(ctx context.Context, dir string) (*git.Repo, error) {
	g, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return g.Open(ctx, dir)
}
