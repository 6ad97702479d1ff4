package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// memory is a keyring that forgets; or, with an error, none.
type memory struct {
	keys map[string]Secret
	err  error
}

func (m *memory) Get(provider string) (Secret, error) {
	if key, ok := m.keys[provider]; ok && m.err == nil {
		return key, nil
	}
	return "", m.failure()
}

func (m *memory) Set(provider string, key Secret) error {
	if m.err != nil {
		return m.err
	}
	m.keys[provider] = key
	return nil
}

func (m *memory) Delete(provider string) error {
	if _, ok := m.keys[provider]; !ok || m.err != nil {
		return m.failure()
	}
	delete(m.keys, provider)
	return nil
}

func (m *memory) failure() error {
	if m.err != nil {
		return m.err
	}
	return ErrNoKey
}

var house = Provider{ID: "house", EnvKeys: []string{"HOUSE_KEY", "OLD_HOUSE_KEY"}}

// testEnv is where keys may come from.
type testEnv struct {
	env  map[string]string
	ring map[string]Secret
	file string // the file's text; "" means none exists
	mode fs.FileMode
	none error // the keyring's failure
}

func (w testEnv) keys(t *testing.T) (*Keys, *memory) {
	t.Helper()
	ring := &memory{keys: map[string]Secret{}, err: w.none}
	maps.Copy(ring.keys, w.ring)
	k := &Keys{Getenv: func(name string) string { return w.env[name] }, Ring: ring, File: filepath.Join(t.TempDir(), "data", "keys.json")}
	if w.file != "" {
		mode := w.mode
		if mode == 0 {
			mode = 0o600
		}
		if err := os.Mkdir(filepath.Dir(k.File), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(k.File, []byte(w.file), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(k.File, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	return k, ring
}

func TestKey(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HOUSE_KEY": "from-env", "OLD_HOUSE_KEY": "from-old-env"}
	ring := map[string]Secret{"house": "from-ring", "other": "x"}
	const file = `{"house": "from-file"}`
	noBus := fmt.Errorf("%w: no session bus", ErrNoKeyring)
	for _, c := range []struct {
		name    string
		testEnv testEnv
		want    string
		origin  string
		err     string
	}{
		{"the environment wins", testEnv{env: env, ring: ring, file: file}, "from-env", "HOUSE_KEY", ""},
		{"the second variable", testEnv{env: map[string]string{"HOUSE_KEY": " ", "OLD_HOUSE_KEY": "from-old-env\n"}, ring: ring}, "from-old-env", "OLD_HOUSE_KEY", ""},
		{"then the keyring", testEnv{ring: ring, file: file}, "from-ring", "keyring", ""},
		{"then the file", testEnv{ring: map[string]Secret{"other": "x"}, file: file}, "from-file", "keys.json", ""},
		{"the file without a keyring", testEnv{none: noBus, file: file}, "from-file", "keys.json", ""},
		{"none", testEnv{}, "", "", "no API key for house"},
		{"none, and no keyring", testEnv{none: noBus}, "", "", "no session bus"},
		{"another's", testEnv{file: `{"other": "x"}`}, "", "", "no API key for house"},
		{"an odd variable", testEnv{env: map[string]string{"HOUSE_KEY": "a b"}, file: file}, "", "", "read the key in HOUSE_KEY"},
		{"a file for all", testEnv{file: file, mode: 0o644}, "", "", "other users can access"},
		{"a file for the group", testEnv{file: file, mode: 0o620}, "", "", "other users can access"},
		{"a broken file", testEnv{file: `{"house": "from-file"`}, "", "", "is not a JSON object"},
		{"a file of something else", testEnv{file: `{"house": {"key": "from-file"}}`}, "", "", "is not a JSON object"},
		{"a key twice", testEnv{file: `{"house": "from-file", "house": "b"}`}, "", "", "is not a JSON object"},
		{"null", testEnv{file: `null`}, "", "", "is not a JSON object"},
		{"a file's mode is not looked at in vain", testEnv{env: env, file: file, mode: 0o644}, "from-env", "HOUSE_KEY", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, _ := c.testEnv.keys(t)
			got, origin, err := k.Key(house)
			if got.Reveal() != c.want || origin != c.origin {
				t.Errorf("got %q from %q, want %q from %q", got.Reveal(), origin, c.want, c.origin)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if strings.HasPrefix(c.err, "no API key") && !errors.Is(err, ErrNoKey) {
				t.Errorf("%v is not ErrNoKey", err)
			}
			if c.testEnv.mode != 0 && err != nil && !errors.Is(err, pawl.ErrDenied) {
				t.Errorf("%v is not ErrDenied", err)
			}
			if err != nil && strings.Contains(err.Error(), "from-") {
				t.Errorf("%v shows the key", err)
			}
		})
	}
}

// TestFolderForFile: something that is no file is not read.
func TestFolderForFile(t *testing.T) {
	t.Parallel()
	k := &Keys{Ring: &memory{}, File: t.TempDir()}
	if _, _, err := k.Key(Provider{ID: "house"}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("got %v", err)
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	noBus := fmt.Errorf("%w: no bus", ErrNoKeyring)
	locked := errors.New("locked")
	both := testEnv{ring: map[string]Secret{"house": "old", "other": "x"}, file: `{"house": "old", "third": "y"}`}
	alone := both
	alone.none = noBus
	for _, c := range []struct {
		name     string
		testEnv  testEnv
		save     func(*Keys, string, Secret) (Saved, error)
		want     Saved
		wantRing map[string]Secret
		wantFile map[string]string
		err      error
	}{
		{"keyring", both, (*Keys).Save, Saved{Origin: OriginKeyring}, map[string]Secret{"house": "new", "other": "x"}, map[string]string{"third": "y"}, nil},
		{"no keyring", alone, (*Keys).Save, Saved{OriginFile, noBus}, both.ring, map[string]string{"house": "new", "third": "y"}, nil},
		{"nothing yet", testEnv{none: noBus}, (*Keys).Save, Saved{OriginFile, noBus}, map[string]Secret{}, map[string]string{"house": "new"}, nil},
		{"in file", both, (*Keys).SaveInFile, Saved{Origin: OriginFile}, map[string]Secret{"other": "x"}, map[string]string{"house": "new", "third": "y"}, nil},
		{"in file, no keyring", alone, (*Keys).SaveInFile, Saved{Origin: OriginFile}, both.ring, map[string]string{"house": "new", "third": "y"}, nil},
		{"failing keyring", testEnv{none: locked}, (*Keys).Save, Saved{}, map[string]Secret{}, map[string]string{}, locked},
		{"in file, failing keyring", testEnv{none: locked}, (*Keys).SaveInFile, Saved{}, map[string]Secret{}, map[string]string{}, locked},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, ring := c.testEnv.keys(t)
			got, err := c.save(k, "house", "new")
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v", got, err)
			}
			file, err := readFile(k.File)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.wantRing, ring.keys); diff != "" {
				t.Errorf("keyring:\n%s", diff)
			}
			if diff := cmp.Diff(c.wantFile, file); diff != "" {
				t.Errorf("file:\n%s", diff)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	both := testEnv{ring: map[string]Secret{"house": "a"}, file: `{"house": "b"}`}
	alone := both
	alone.none = ErrNoKeyring
	for _, c := range []struct {
		name    string
		testEnv testEnv
		want    []string
		err     error
	}{
		{"both", both, []string{OriginKeyring, OriginFile}, nil},
		{"no keyring", alone, []string{OriginFile}, nil},
		{"none", testEnv{file: `{"other": "x"}`}, nil, ErrNoKey},
		{"nothing at all", testEnv{}, nil, ErrNoKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, _ := c.testEnv.keys(t)
			got, err := k.Delete("house")
			if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v", got, err)
			}
			if keys, err := readFile(k.File); err != nil || keys["house"] != "" {
				t.Errorf("the file holds %v, %v", keys, err)
			}
		})
	}
}

// TestFile: the file and its directory are the user's alone, it is replaced and
// not written into, and it goes with its last key.
func TestFile(t *testing.T) {
	t.Parallel()
	k, _ := testEnv{none: ErrNoKeyring}.keys(t)
	for _, id := range []string{"house", "other"} {
		if _, err := k.Save(id, "k"); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]fs.FileMode{}
	for _, path := range []string{k.File, filepath.Dir(k.File)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(path)] = info.Mode()
	}
	if diff := cmp.Diff(map[string]fs.FileMode{"keys.json": 0o600, "data": fs.ModeDir | 0o700}, got); diff != "" {
		t.Errorf("modes:\n%s", diff)
	}
	if text, err := os.ReadFile(k.File); err != nil || string(text) != "{\n  \"house\": \"k\",\n  \"other\": \"k\"\n}\n" {
		t.Errorf("the file holds %s, %v", text, err)
	}
	for _, id := range []string{"house", "other"} {
		if _, err := k.Delete(id); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := os.ReadDir(filepath.Dir(k.File)); err != nil || len(list) != 0 {
		t.Errorf("left over: %v, %v", list, err)
	}
}

// TestManySave: of those who save at once, nobody loses a key.
func TestManySave(t *testing.T) {
	t.Parallel()
	k, _ := testEnv{none: ErrNoKeyring}.keys(t)
	var wg sync.WaitGroup
	want := map[string]string{}
	for i := range 20 {
		id := fmt.Sprintf("p%d", i)
		want[id] = "k"
		wg.Go(func() {
			if _, err := k.SaveInFile(id, "k"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := readFile(k.File)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSaveBesideBadFile: a file that may not be read is not written over either.
func TestSaveBesideBadFile(t *testing.T) {
	t.Parallel()
	k, _ := testEnv{none: ErrNoKeyring, file: `{"house": "old"}`, mode: 0o644}.keys(t)
	if _, err := k.Save("other", "new"); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(k.File); string(text) != `{"house": "old"}` {
		t.Errorf("it was written: %s", text)
	}
}

// TestFound: whoever masks keys hears of each that is given away, and of all in
// the file.
func TestFound(t *testing.T) {
	t.Parallel()
	found := map[string]Secret{}
	k := &Keys{
		Getenv: func(name string) string { return map[string]string{"HOUSE_KEY": "from-env"}[name] },
		Ring:   &memory{keys: map[string]Secret{"ring": "from-ring"}},
		File:   filepath.Join(t.TempDir(), "keys.json"),
		Found:  func(provider string, key Secret) { found[provider] = key },
	}
	if _, err := k.SaveInFile("file", "from-file"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Provider{house, {ID: "ring"}, {ID: "file"}, {ID: "none"}} {
		if _, _, err := k.Key(p); (err != nil) != (p.ID == "none") {
			t.Errorf("%s: %v", p.ID, err)
		}
	}
	if want := map[string]Secret{"house": "from-env", "ring": "from-ring", "file": "from-file"}; !maps.Equal(found, want) {
		t.Errorf("%d were found", len(found))
	}
	if kept, err := k.Kept(); err != nil || !maps.Equal(kept, map[string]Secret{"file": "from-file"}) {
		t.Errorf("%d are kept, %v", len(kept), err)
	}
}
