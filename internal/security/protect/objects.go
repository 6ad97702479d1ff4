package protect

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// objectChanges are the changes to one object database. It only grows: an object can only move into a pack.
type objectChanges struct {
	*repo
	dir   string // of the objects, relative to the root
	hash  hash
	loose map[int]string            // ids, by index of the change
	packs map[string]map[string]int // by name of the pack and extension
	fresh map[string]bool           // loose objects that were verified, by id
	whole []idTable                 // packs that stay or were verified
}

var (
	looseDir  = regexp.MustCompile(`^[0-9a-f]{2}$`)
	looseName = regexp.MustCompile(`^([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})$`)
	packName  = regexp.MustCompile(`^pack/(pack-(?:[0-9a-f]{40}|[0-9a-f]{64}))\.(pack|idx|rev|bitmap|mtimes|keep|promisor)$`)
	tempName  = regexp.MustCompile(`^(?:[0-9a-f]{2}/|pack/|info/|info/commit-graphs/)?(?:tmp_|\.tmp-|incoming-|quarantine-)`)
	cacheName = regexp.MustCompile(`^(?:info/commit-graph|info/commit-graphs(?:/[a-z0-9.-]+)?|pack/multi-pack-index(?:-[a-z0-9.-]+)?|pack/multi-pack-index\.d(?:/.*)?)$`)
)

// addObject decides about an entry of an object database, or keeps it for check.
func (r *repo) addObject(inner, rest string, i int) {
	o := r.objects[inner]
	if o == nil {
		dir := path.Join(r.dir, inner, "objects")
		o = &objectChanges{repo: r, dir: dir, hash: r.format(dir), loose: map[int]string{}, packs: map[string]map[string]int{}, fresh: map[string]bool{}}
		r.objects[inner] = o
	}
	change, out := r.view.changes[i], &r.outcomes[i]
	deleted := change.New.Type == tree.Missing
	if out.unit = ""; r.new {
		out.unit = r.unit
	}
	loose, pack := looseName.FindStringSubmatch(rest), packName.FindStringSubmatch(rest)
	switch {
	case loose != nil:
		o.loose[i] = loose[1] + loose[2]
	case pack != nil:
		if o.packs[pack[1]] == nil {
			o.packs[pack[1]] = map[string]int{}
		}
		o.packs[pack[1]][pack[2]] = i
	case rest == "" || rest == "pack" || rest == "info" || looseDir.MatchString(rest):
		out.drop = deleted // an empty directory does no harm
		if change.New.Type == tree.File || change.Old.Type == tree.File || deleted && rest == "" {
			out.reason = "it replaces a directory of git objects"
		}
	case tempName.MatchString(rest), strings.HasSuffix(rest, ".lock"):
		out.drop = !deleted
	case cacheName.MatchString(rest):
		out.drop = !deleted && change.Old.Type == tree.Missing
		out.remove = change.Old.Type == tree.File
	case rest == "info/packs":
	case strings.HasSuffix(Fold(rest), "alternates"):
		out.reason = "it makes git read objects from another directory"
	default:
		out.reason = "a file among the git objects that Pawl does not know"
	}
	if out.reason != "" {
		out.unit = r.unit
	}
}

// check verifies new objects, and that deleted ones are in packs.
func (o *objectChanges) check(ctx context.Context) error {
	for i, id := range o.loose {
		if err := ctx.Err(); err != nil {
			return err
		}
		o.checkLoose(i, id)
	}
	for name, files := range o.packs {
		if err := o.checkPack(ctx, name, files); err != nil {
			return err
		}
	}
	o.checkDeleted()
	return nil
}

// checkLoose verifies a new loose object.
func (o *objectChanges) checkLoose(i int, id string) {
	change, out := o.view.changes[i], &o.outcomes[i]
	if change.New.Type == tree.Missing {
		return // see checkDeleted
	}
	f, _, err := openFile(o.upper, change.Path)
	if err == nil {
		err = verifyLoose(f, id, o.hash)
		_ = f.Close()
	}
	switch {
	case err != nil || change.New.Type != tree.File:
		out.reason, out.unit = "the git object does not match its name", o.unit
	case change.Old.Type != tree.Missing:
		out.drop = true // the old one is as good
	default:
		o.fresh[id] = true
	}
}

const maxLoose = 4 << 30 // bytes of an object

// verifyLoose returns an error unless a loose object has the id.
func verifyLoose(r io.Reader, id string, h hash) error {
	in := bufio.NewReader(r)
	z, err := zlib.NewReader(in)
	if err != nil {
		return err
	}
	content := bufio.NewReader(z)
	header, err := content.ReadSlice(0)
	if err != nil || len(header) > 64 {
		return errors.New("no valid header")
	}
	var kind string
	var size int64
	sum := h.new()
	sum.Write(header)
	if _, err := fmt.Sscanf(string(header[:len(header)-1]), "%s %d", &kind, &size); err != nil || size < 0 || size > maxLoose ||
		fmt.Sprintf("%s %d", kind, size) != string(header[:len(header)-1]) || typeNumber(kind) == 0 {
		return errors.New("no valid header")
	}
	if n, err := io.Copy(sum, io.LimitReader(content, size+1)); err != nil || n != size {
		return errors.New("not as large as its header says")
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return errors.New("data after its end")
	}
	if hex.EncodeToString(sum.Sum(nil)) != id {
		return errors.New("another id")
	}
	return nil
}

// checkPack decides about the files of one pack, and verifies a new one.
func (o *objectChanges) checkPack(ctx context.Context, name string, files map[string]int) error {
	i, changed := files["pack"]
	if changed && o.view.changes[i].New.Type == tree.Missing {
		return nil // see checkDeleted
	}
	verified := ""
	if changed {
		var err error
		if verified, err = o.verifyNew(ctx, name, files); err != nil {
			return err
		}
	}
	for ext, i := range files {
		change, out := o.view.changes[i], &o.outcomes[i]
		deleted, isNew := change.New.Type == tree.Missing, change.Old.Type == tree.Missing
		if !o.new {
			out.unit = path.Join(o.dir, "pack")
		}
		switch {
		case verified != "":
			out.reason = verified
		case ext == "rev" || ext == "bitmap" || ext == "mtimes": // git computes them if they are missing
			out.drop, out.remove = !deleted && isNew, !isNew
		case ext == "keep":
		case !changed || !isNew:
			out.reason = "it changes a pack of git objects"
		}
		if out.reason != "" {
			out.unit = o.unit
		}
	}
	return nil
}

// verifyNew returns why a new pack is refused, or "". It returns an error only if ctx ended.
func (o *objectChanges) verifyNew(ctx context.Context, name string, files map[string]int) (string, error) {
	const damaged = "the pack of git objects is damaged, or its index does not match it"
	idx, ok := files["idx"]
	pack := o.view.changes[files["pack"]]
	if !ok || pack.Old.Type != tree.Missing || o.view.changes[idx].Old.Type != tree.Missing {
		return "it changes a pack of git objects, or adds one without an index", nil
	}
	f, size, err := openFile(o.upper, pack.Path)
	if err != nil {
		return damaged, nil //nolint:nilerr // the pack is refused
	}
	defer f.Close()
	p, err := readPack(ctx, f, size, o.hash)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return damaged, nil //nolint:nilerr // the pack is refused
	}
	want := p.index()
	got, err := readFile(o.upper, path.Join(o.dir, "pack", name+".idx"), int64(len(want)))
	if err != nil || !bytes.Equal(got, want) {
		return damaged, nil //nolint:nilerr // the pack is refused
	}
	table, err := readIDs(want, o.hash)
	if err != nil {
		return damaged, nil //nolint:nilerr // the pack is refused
	}
	o.whole = append(o.whole, table)
	return "", nil
}

// checkDeleted refuses deleted objects that are in no pack.
func (o *objectChanges) checkDeleted() {
	var deletedPacks []string
	for name, files := range o.packs {
		if i, ok := files["pack"]; ok && o.view.changes[i].New.Type == tree.Missing {
			deletedPacks = append(deletedPacks, name)
		}
	}
	deletedLoose := map[string]int{}
	for i, id := range o.loose {
		if o.view.changes[i].New.Type == tree.Missing {
			deletedLoose[id] = i
		}
	}
	if len(deletedPacks)+len(deletedLoose) == 0 {
		return
	}
	o.addKeptPacks()
	for id, i := range deletedLoose {
		if o.outcomes[i].unit = path.Join(o.dir, "pack"); !o.packed(id) {
			o.outcomes[i] = outcome{reason: "it deletes a git object that is in no pack"}
		}
	}
	for _, name := range deletedPacks {
		kept := o.allKept(name, deletedLoose)
		for _, i := range o.packs[name] {
			if o.outcomes[i].unit = path.Join(o.dir, "pack"); !kept {
				o.outcomes[i] = outcome{reason: "it deletes a pack with git objects that are nowhere else"}
			} else if o.view.changes[i].New.Type != tree.Missing {
				o.outcomes[i].drop = true
			}
		}
	}
}

// addKeptPacks adds the packs that the command left as they were.
func (o *objectChanges) addKeptPacks() {
	dir, err := o.lower.Open(path.Join(o.dir, "pack"))
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, file := range names {
		name, ok := strings.CutSuffix(file, ".idx")
		if !ok {
			continue
		}
		_, pack := o.packs[name]["pack"]
		_, idx := o.packs[name]["idx"]
		if table, err := o.oldIDs(name); err == nil && !pack && !idx {
			o.whole = append(o.whole, table)
		}
	}
}

// oldIDs returns the objects of a pack before the command.
func (o *objectChanges) oldIDs(name string) (idTable, error) {
	data, err := readFile(o.lower, path.Join(o.dir, "pack", name+".idx"), maxLarge)
	if err != nil {
		return idTable{}, err
	}
	return readIDs(data, o.hash)
}

func (o *objectChanges) packed(id string) bool {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return false
	}
	for _, table := range o.whole {
		if table.contains(raw) {
			return true
		}
	}
	return false
}

// allKept reports whether each object of a deleted pack is in another pack or loose.
func (o *objectChanges) allKept(name string, deletedLoose map[string]int) bool {
	table, err := o.oldIDs(name)
	if err != nil {
		return false
	}
	for raw := range table.all {
		id := hex.EncodeToString(raw)
		if o.packed(id) || o.fresh[id] {
			continue
		}
		if _, deleted := deletedLoose[id]; deleted || o.typeBefore(path.Join(o.dir, id[:2], id[2:])) != tree.File {
			return false
		}
	}
	return true
}
