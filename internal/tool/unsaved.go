package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// Notes for the model about files that are open in an editor.
const (
	unsavedNote = "(this is what the user has in the editor and has not saved. The file on the disk is another: it can be changed once they save or discard this)\n"
	unaskedNote = "(whether the editor has changes of it that are not saved is not known: %v. This is about the file on the disk)\n"
)

// unsaved returns the editor's version of a file if it has unsaved changes. An
// error means that the editor did not answer. The editor is asked about text
// files only.
func unsaved(ctx context.Context, call toolapi.Call, f file) (text string, ok bool, err error) {
	if call.Buffers == nil || !f.exists || !utf8.ValidString(f.text) || len(f.text) > EditBytes {
		return "", false, nil
	}
	text, ok, err = call.Buffers.Unsaved(ctx, toolapi.OnDisk{Path: filepath.Join(locate(call, f.path)), Text: f.text, Changed: f.changed})
	if err == nil && len(text) > EditBytes {
		return "", false, fmt.Errorf("what it has is longer than %d bytes", EditBytes)
	}
	return text, ok, err
}

// readOpen returns a text file as the user has it in an editor, or as it is on
// disk if there are no unsaved changes or the editor does not answer. path is
// the file's real path, shown the one that the model uses.
func readOpen(ctx context.Context, call toolapi.Call, f *os.File, path, shown string, in readInput) (pawl.Result, error) {
	disk, err := contentOf(f, path)
	if err != nil {
		return pawl.Result{}, fmt.Errorf("read %s: %w", in.Path, err)
	}
	text, note := disk.text, ""
	_, ok, err := unsaved(ctx, call, disk)
	if ok && err == nil { // the editor has opened the file by its path: its answer counts only if the path leads to the same file before and after
		dir, rel := locate(call, path)
		err = workspace.Steady(ctx, dir, rel, func() (err error) {
			text, ok, err = unsaved(ctx, call, disk)
			return err
		})
	}
	switch {
	case ctx.Err() != nil:
		return pawl.Result{}, ctx.Err()
	case err != nil:
		text, note = disk.text, fmt.Sprintf(unaskedNote, err)
	case ok:
		note = unsavedNote
	default:
		text = disk.text
	}
	result, err := readLines(ctx, strings.NewReader(text), in)
	if err != nil {
		return result, err
	}
	result.Content = note + result.Content
	result.Seen = map[string]string{shown: workspace.Hash([]byte(text))}
	return result, nil
}

// saved returns an error if one of the files has unsaved changes in an editor:
// writing to disk would lose either those or ours. The note names the files
// for which the editor did not answer.
func saved(ctx context.Context, call toolapi.Call, files ...file) (note string, err error) {
	if call.Buffers == nil {
		return "", nil
	}
	asking, cancel := context.WithTimeout(ctx, BufferTime)
	defer cancel()
	var open, unknown []string
	var why error
	for _, f := range files {
		_, ok, err := unsaved(asking, call, f)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			unknown, why = append(unknown, f.path), err
		case ok:
			open = append(open, f.path)
		}
	}
	if open != nil {
		return "", fmt.Errorf("the user has changes in the editor that are not saved, of %s: ask them to save or to discard these, then read it again", strings.Join(open, ", "))
	}
	if unknown != nil {
		note = fmt.Sprintf("%s: "+unaskedNote, strings.Join(unknown[:min(len(unknown), 5)], ", "), why)
	}
	return note, nil
}

// perhapsUnsaved adds a possible reason to the error of a preview: the editor
// is asked only after the change has been allowed.
func perhapsUnsaved(call toolapi.Call, err error) error {
	if call.Buffers == nil {
		return err
	}
	return fmt.Errorf("%w (if read shows what the user has not saved, ask them to save or to discard that first)", err)
}
