package access

import (
	"context"
	"io"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// tenanted is a service for one tenant: each method adds the tenant to its context, and does nothing
// else.
type tenanted struct {
	next   pawl.Service
	tenant store.Tenant
}

var _ pawl.Service = tenanted{}

func (s tenanted) of(ctx context.Context) context.Context {
	return store.WithTenant(ctx, s.tenant)
}

func (s tenanted) Create(ctx context.Context, n pawl.NewSession) (pawl.Session, error) {
	return s.next.Create(s.of(ctx), n)
}

func (s tenanted) Get(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	return s.next.Get(s.of(ctx), id)
}

func (s tenanted) List(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error) {
	return s.next.List(s.of(ctx), f)
}

func (s tenanted) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	return s.next.Usage(s.of(ctx), f)
}

func (s tenanted) StartMission(ctx context.Context, n pawl.NewMission) (pawl.Session, error) {
	return s.next.StartMission(s.of(ctx), n)
}

func (s tenanted) Mission(ctx context.Context, id pawl.SessionID) (pawl.Board, error) {
	return s.next.Mission(s.of(ctx), id)
}

func (s tenanted) Send(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	return s.next.Send(s.of(ctx), id, p)
}

func (s tenanted) Waiting(ctx context.Context, id pawl.SessionID) ([]pawl.Waiting, error) {
	return s.next.Waiting(s.of(ctx), id)
}

func (s tenanted) Reword(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, parts pawl.Parts) error {
	return s.next.Reword(s.of(ctx), id, prompt, parts)
}

func (s tenanted) Withdraw(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	return s.next.Withdraw(s.of(ctx), id, prompt)
}

func (s tenanted) Resume(ctx context.Context, id pawl.SessionID) error {
	return s.next.Resume(s.of(ctx), id)
}

func (s tenanted) Answer(ctx context.Context, id pawl.SessionID, ask pawl.Seq, a pawl.Answer) error {
	return s.next.Answer(s.of(ctx), id, ask, a)
}

func (s tenanted) Cancel(ctx context.Context, id pawl.SessionID) error {
	return s.next.Cancel(s.of(ctx), id)
}

func (s tenanted) Compact(ctx context.Context, id pawl.SessionID, instructions string) (pawl.Seq, error) {
	return s.next.Compact(s.of(ctx), id, instructions)
}

func (s tenanted) Shell(ctx context.Context, id pawl.SessionID, command string) (pawl.Seq, error) {
	return s.next.Shell(s.of(ctx), id, command)
}

func (s tenanted) Preview(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error) {
	return s.next.Preview(s.of(ctx), id, r)
}

func (s tenanted) Undo(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.Seq, error) {
	return s.next.Undo(s.of(ctx), id, r)
}

func (s tenanted) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (pawl.Session, error) {
	return s.next.Fork(s.of(ctx), id, at)
}

func (s tenanted) Rename(ctx context.Context, id pawl.SessionID, title string) error {
	return s.next.Rename(s.of(ctx), id, title)
}

func (s tenanted) Share(ctx context.Context, id pawl.SessionID, with []pawl.User) error {
	return s.next.Share(s.of(ctx), id, with)
}

func (s tenanted) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return s.next.Events(s.of(ctx), id, after)
}

func (s tenanted) Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error) {
	return s.next.Draft(s.of(ctx), id)
}

func (s tenanted) Import(ctx context.Context, n pawl.NewSession, events iter.Seq2[pawl.Event, error]) (pawl.Session, error) {
	return s.next.Import(s.of(ctx), n, events)
}

func (s tenanted) Delete(ctx context.Context, id pawl.SessionID) error {
	return s.next.Delete(s.of(ctx), id)
}

func (s tenanted) Look(ctx context.Context, dir string) (pawl.Project, error) {
	return s.next.Look(s.of(ctx), dir)
}

func (s tenanted) Trust(ctx context.Context, dir, hash string) error {
	return s.next.Trust(s.of(ctx), dir, hash)
}

func (s tenanted) Models(ctx context.Context) ([]pawl.ModelInfo, error) {
	return s.next.Models(s.of(ctx))
}

func (s tenanted) Files(ctx context.Context, dir, query string, limit int) ([]string, error) {
	return s.next.Files(s.of(ctx), dir, query, limit)
}

func (s tenanted) Expand(ctx context.Context, dir string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	return s.next.Expand(s.of(ctx), dir, p)
}

func (s tenanted) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	return s.next.Output(s.of(ctx), id, blob)
}

func (s tenanted) Diff(ctx context.Context, id pawl.SessionID, o pawl.DiffOptions) (pawl.Diff, error) {
	return s.next.Diff(s.of(ctx), id, o)
}

func (s tenanted) ListDir(ctx context.Context, id pawl.SessionID, path string) ([]pawl.FileInfo, bool, error) {
	return s.next.ListDir(s.of(ctx), id, path)
}

func (s tenanted) ReadFile(ctx context.Context, id pawl.SessionID, path string, offset, length int64) (pawl.File, int64, error) {
	return s.next.ReadFile(s.of(ctx), id, path, offset, length)
}
