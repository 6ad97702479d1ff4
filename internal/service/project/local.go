// Package project implements pawl.Projects: what front ends know of directories, models and
// words, beside the sessions. Nothing of a directory's takes effect by looking at it,
// and nothing of one that is not trusted is shown but what it would enable.
package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/store"
)

// Servers are the MCP servers of directories.
type Servers interface {
	// Status says how a directory's servers fare, and what is wrong with what
	// configures them. It starts none.
	Status(ctx context.Context, dir string) (servers []pawl.ServerInfo, faults []string)
	// Commands are the prompts of the servers that run.
	Commands(dir string) []pawl.CommandInfo
	// Prompt puts a server's prompt in the place of its call; found is false if no
	// server is meant.
	Prompt(ctx context.Context, dir, name, args string, p *pawl.Prompt) (found bool, err error)
	// Attach adds the documents of servers that words name, and tells which it
	// could not have.
	Attach(ctx context.Context, dir, words string, p *pawl.Prompt) (notes []string)
}

// Config is what a Projects needs.
type Config struct {
	Safety  *policy.Safety
	Places  extension.Places
	Store   store.Store
	Catalog func() (*catalog.Catalog, error)
	// HasKey reports whether a provider's key is there. It may take its time.
	HasKey  func(catalog.Provider) bool
	Servers Servers                   // nil means that there are none
	Mask    func(io.Reader) io.Reader // takes secrets out of outputs; nil means that there are none
	Clock   func() time.Time          // nil means time.Now
}

// Local is the local implementation of pawl.Projects.
type Local struct {
	Config
	files  fileCache
	models modelCache
	ctx    context.Context //nolint:containedctx // it ends what works in the background
	cancel context.CancelFunc
}

var _ pawl.Projects = (*Local)(nil)

// New returns a Projects. Whoever has it closes it.
func New(c Config) *Local {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	d := &Local{Config: c}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Close ends what works in the background. It does not wait for a keyring that
// waits for its owner.
func (d *Local) Close() {
	d.cancel()
	d.files.work.Wait()
}

// realDir returns a directory's real path.
func realDir(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the folder %.200q is not absolute: %w", dir, pawl.ErrInvalid)
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no folder %.200q: %w", dir, pawl.ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%.200q is no folder: %w", dir, pawl.ErrInvalid)
	}
	return real, err
}

// Output opens an output that is kept beside the log, without what pawl knows to
// be secret by now.
func (d *Local) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	if _, err := d.Store.Session(ctx, id); err != nil {
		return nil, err
	}
	out, err := d.Store.OpenBlob(ctx, id, blob)
	if err != nil || d.Mask == nil {
		return out, err
	}
	return struct {
		io.Reader
		io.Closer
	}{d.Mask(out), out}, nil
}
