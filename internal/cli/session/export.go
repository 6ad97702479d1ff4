package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

// ExportFlags are the flags of 'pawl session export'.
type ExportFlags struct {
	format string
	File   string
	force  bool
	blobs  bool
}

var exportFormats = []string{"jsonl", "md", "html"}

func sessionExportCommand() *cobra.Command {
	var f ExportFlags
	cmd := &cobra.Command{
		Use:   "export id|last",
		Short: "Write a session to a file or to standard output",
		Long: `Write a session to a file or to standard output, in one of these formats:

  jsonl  the event log, one event per line; 'pawl session import' reads it
  md     Markdown: prompts, replies, tool calls, diffs and costs
  html   the same as one self-contained page, without scripts

Without --format, the extension of the file selects the format. The default is jsonl.
A jsonl export leaves out outputs that are too large for the log, unless you pass
--blobs.

Pawl masks everything that looks like a secret. The rest of the conversation and of the
tools' output is in the export: review it before you share it.`,
		Example: `  pawl session export last > session.jsonl
  pawl session export last -o session.html
  pawl session export last --format md | less
  pawl session export last --blobs -o session.jsonl`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(cmd.OutOrStdout()); err != nil {
				return cli.UsageError(cmd, err)
			}
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.Output(cmd.OutOrStdout(), func(w io.Writer) error { return f.Write(ctx, w, cmd.ErrOrStderr(), a, s) })
			})
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "", "output `format`: "+humanize.Join(exportFormats, "or"))
	cmd.Flags().StringVarP(&f.File, "output", "o", "", "write to `file`, readable only by you")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite the file if it exists")
	cmd.Flags().BoolVar(&f.blobs, "blobs", false, "include outputs that are too large for the log (jsonl only)")
	return cmd
}

// Check sets the format if it is not given, and returns an error if the flags are invalid.
func (f *ExportFlags) Check(out io.Writer) error {
	if f.format == "" {
		f.format = "jsonl"
		if ext := strings.TrimPrefix(filepath.Ext(f.File), "."); slices.Contains(exportFormats, ext) {
			f.format = ext
		} else if ext == "markdown" || ext == "htm" {
			f.format = map[string]string{"markdown": "md", "htm": "html"}[ext]
		} else if f.File != "" {
			return fault.New(pawl.ErrInvalid, "the extension of %s does not name a format", sanitize.Line(f.File)).
				Hint("Pass --format %s.", humanize.Join(exportFormats, "or"))
		}
	}
	switch {
	case !slices.Contains(exportFormats, f.format):
		return cli.Unknown("format", f.format, exportFormats)
	case f.blobs && f.format != "jsonl":
		return fault.New(pawl.ErrInvalid, "--blobs requires the format jsonl")
	case f.force && f.File == "":
		return fault.New(pawl.ErrInvalid, "--force requires --output")
	case f.format == "html" && f.File == "" && cli.IsTerminal(out):
		return fault.New(pawl.ErrInvalid, "cannot print HTML to a terminal").Hint("Pass -o session.html to write it to a file.")
	}
	return nil
}

// Output calls write with the file of --output, or with stdout. If write fails it leaves no partial file.
func (f *ExportFlags) Output(stdout io.Writer, write func(io.Writer) error) error {
	if f.File == "" {
		return write(stdout)
	}
	if !f.force { // reserve the name
		held, err := os.OpenFile(f.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			return fault.New(os.ErrExist, "export: %s already exists", sanitize.Line(f.File)).Hint("Pass --force to overwrite it.")
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if err := held.Close(); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	err := writeFile(f.File, write)
	if err != nil && !f.force {
		err = errors.Join(err, os.Remove(f.File))
	}
	return err
}

// writeFile atomically creates or replaces a file, which only the user can read.
func writeFile(path string, write func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".pawl-export-*") // mode 0600
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	err = write(temp)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// Write writes a session to w in the chosen format, with secrets masked. It reports omitted outputs on notes.
func (f *ExportFlags) Write(ctx context.Context, w, notes io.Writer, a *app.App, s pawl.Session) error {
	events := maskedLog(ctx, a, s)
	switch f.format {
	case "md":
		return export.Markdown(w, export.Document{Session: maskedRow(s), Events: events})
	case "html":
		return export.HTML(w, export.Document{Session: maskedRow(s), Events: events})
	default:
		return f.writeLog(ctx, w, notes, a, s.ID, events)
	}
}

// maskedLog returns the session's log with secrets masked.
func maskedLog(ctx context.Context, a *app.App, s pawl.Session) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		mask := app.Secrets.Log()
		for e, err := range cli.SessionLog(ctx, a, s) {
			if err == nil {
				e, err = mask(e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func maskedRow(s pawl.Session) pawl.Session {
	for _, text := range []*string{&s.Title, &s.Prompt, &s.Dir, &s.Model} {
		*text = app.Secrets.Redact(*text)
	}
	return s
}

// writeLog writes the events and, with --blobs, the outputs that were too large for the log.
func (f *ExportFlags) writeLog(ctx context.Context, w, notes io.Writer, a *app.App, id pawl.SessionID, events iter.Seq2[pawl.Event, error]) error {
	out := bufio.NewWriter(w)
	var outputs export.Outputs
	for e, err := range events {
		if err != nil {
			return err
		}
		outputs.Add(e)
		if err := cli.WriteJSON(out, e); err != nil {
			return err
		}
	}
	left := len(outputs.List)
	why := "pass --blobs to include them"
	if f.blobs {
		why = "not in the store, or containing secrets"
		for _, blob := range outputs.List {
			written, err := writeBlob(ctx, out, a, id, blob)
			if err != nil {
				return err
			}
			if written {
				left--
			}
		}
	}
	if left > 0 {
		fmt.Fprintf(notes, "pawl: note: left out %s too large for the log: %s\n", humanize.Plural(left, "output"), why)
	}
	return out.Flush()
}

// writeBlob writes an output unless the store does not have it or it contains secrets. It cannot mask them, because an
// output is identified by its hash.
func writeBlob(ctx context.Context, w io.Writer, a *app.App, id pawl.SessionID, blob pawl.Blob) (written bool, err error) {
	open := func(read func(io.Reader) error) error {
		r, err := a.Store.OpenBlob(ctx, id, blob.ID)
		if err != nil {
			return err
		}
		defer r.Close()
		return read(r)
	}
	fit := false
	err = open(func(r io.Reader) (err error) {
		fit, err = export.Matches(blob, app.Secrets.Reader(r))
		return err
	})
	if errors.Is(err, pawl.ErrNotFound) || err == nil && !fit {
		return false, nil
	}
	if err == nil {
		err = open(func(r io.Reader) error {
			return export.WriteOutput(blob, r, func(line any) error { return cli.WriteJSON(w, line) })
		})
	}
	return err == nil, err
}

func sessionImportCommand() *cobra.Command {
	var asNew bool
	cmd := &cobra.Command{
		Use:   "import [file]",
		Short: "Import a session from an export",
		Long: `Import a session that 'pawl session export' wrote in the format jsonl, from a file or
from standard input, and print its id. The session keeps its id unless you pass --as-new.
If the import fails, nothing is stored.

Only the conversation is imported. The session works in the current directory, and
nothing in the file runs or permits anything: a turn that was open is closed, and modes,
models, permissions, queued prompts, missions and checkpoints are left out.`,
		Example: `  pawl session import session.jsonl
  pawl session import --as-new session.jsonl     # import a copy of an existing session`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if len(args) == 1 {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("import: %w", err)
				}
				defer f.Close()
				in = f
			}
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				s, err := importSession(ctx, a, bufio.NewReader(in), cmd.ErrOrStderr(), asNew)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), s.ID)
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asNew, "as-new", false, "give the session a new id")
	return cmd
}

func importSession(ctx context.Context, a *app.App, in io.Reader, notes io.Writer, asNew bool) (pawl.Session, error) {
	dir, err := app.WorkingDir()
	if err != nil {
		return pawl.Session{}, err
	}
	n := pawl.NewSession{Dir: dir}
	if asNew {
		n.ID = pawl.SessionID(ulid.Make().String())
	}
	log := export.NewLog(in)
	s, err := a.Import(ctx, n, log.Events())
	if errors.Is(err, pawl.ErrConflict) {
		return s, fault.New(pawl.ErrConflict, "import: the session already exists").Hint("Pass --as-new to import it as a copy.")
	}
	if err != nil {
		return s, err
	}
	missing, err := log.Outputs(func(r io.Reader) (pawl.Blob, error) { return a.Store.PutBlob(ctx, s.ID, r) })
	if err != nil {
		// Delete the partial import, even if ctx has ended.
		return s, errors.Join(fmt.Errorf("import: %w", err), a.Delete(context.WithoutCancel(ctx), s.ID))
	}
	if len(missing) > 0 {
		fmt.Fprintf(notes, "pawl: note: the export does not include %s too large for the log\n", humanize.Plural(len(missing), "output"))
	}
	return s, nil
}
