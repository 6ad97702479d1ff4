// Package project implements pawl.Projects: what front ends need to know about directories, models and
// prompts. Looking at a project never activates its configuration; of an untrusted project only what
// it would enable is shown.
package project

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/store"
)

// Servers are the MCP servers of directories.
type Servers interface {
	// Status returns the state of a directory's servers, and the faults of their configuration. It starts
	// no server.
	Status(ctx context.Context, dir string) (servers []pawl.ServerInfo, faults []string)
	// Commands returns the prompts of the running servers.
	Commands(dir string) []pawl.CommandInfo
	// Prompt replaces the call of a server's prompt by its text; found is false if the name is not one of
	// a server.
	Prompt(ctx context.Context, dir, name, args string, p *pawl.Prompt) (found bool, err error)
	// Attach adds the resources of servers that the words mention, and returns notes about those that
	// cannot be read.
	Attach(ctx context.Context, dir, words string, p *pawl.Prompt) (notes []string)
}

// Config configures a Local.
type Config struct {
	Safety  *policy.Safety
	Places  extension.Places
	Store   store.Store
	Catalog func() (*catalog.Catalog, error)
	// HasKey reports whether there is a key for a provider. It may block.
	HasKey  func(catalog.Provider) bool
	Servers Servers                   // nil means no servers
	Mask    func(io.Reader) io.Reader // masks secrets in outputs; may be nil
	Clock   func() time.Time          // nil means time.Now

	Sessions Sessions // set before it is used; the zero value knows nothing of the files of sessions
}

// Local implements pawl.Projects for directories on this host.
type Local struct {
	Config
	files  fileCache
	models modelCache
	ctx    context.Context //nolint:containedctx // for the background work; Close cancels it
	cancel context.CancelFunc
}

var _ pawl.Projects = (*Local)(nil)

// New returns a Local. The caller must close it.
func New(c Config) *Local {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	d := &Local{Config: c}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Close ends the background work. It does not wait for a keyring that waits for the user.
func (d *Local) Close() {
	d.cancel()
	d.files.work.Wait()
}

// realDir returns the real path of a directory.
func realDir(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fault.New(pawl.ErrInvalid, "directory %.200q is not an absolute path", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(pawl.ErrNotFound, "directory %.200q not found", dir)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = fault.New(pawl.ErrInvalid, "%.200q is not a directory", dir)
	}
	return real, err
}

// Output opens an output that is stored beside the log, with the secrets masked that pawl knows by now.
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
