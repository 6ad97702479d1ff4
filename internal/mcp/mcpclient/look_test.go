package mcpclient

import (
	"slices"
	"testing"
)

// TestLook: a server is started for this once, says what it offers, and is stopped.
func TestLook(t *testing.T) {
	t.Parallel()
	set := New(Config{})
	defer set.Close()
	dir := t.TempDir()
	status, offer, err := set.Look(t.Context(), dir, fakeEntry(t, Stdio, "good"))
	if err != nil || status.State != Ready {
		t.Fatalf("%+v, %v", status, err)
	}
	var names []string
	for _, tool := range offer.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || len(tool.Schema) == 0 {
			t.Errorf("nothing is said of %s", tool.Name)
		}
	}
	if !slices.Equal(names, status.Tools) || len(offer.Prompts) != status.Prompts || len(offer.Resources) != status.Resources || status.Prompts == 0 || status.Resources == 0 {
		t.Errorf("it offers %+v, and its status is %+v", offer, status)
	}
	if all := set.Status(dir); len(all) != 0 {
		t.Errorf("it stays: %+v", all)
	}
}

// TestLoggedIn: a login that is kept is known, without asking anybody.
func TestLoggedIn(t *testing.T) {
	t.Parallel()
	set := New(Config{Tokens: &ring{}})
	defer set.Close()
	server := Server{Name: "hub", Transport: HTTP, URL: "https://hub.test/mcp"}
	if in, err := set.LoggedIn(server); in || err != nil {
		t.Errorf("before: %v, %v", in, err)
	}
	if err := set.config.save(&credentials{Resource: "https://hub.test/mcp", Access: "a"}); err != nil {
		t.Fatal(err)
	}
	if in, err := set.LoggedIn(server); !in || err != nil {
		t.Errorf("after: %v, %v", in, err)
	}
	if in, err := set.LoggedIn(Server{Name: "hub", Transport: HTTP, URL: "https://hub.test/other"}); in || err != nil {
		t.Errorf("of another address: %v, %v", in, err)
	}
	if in, err := set.LoggedIn(Server{Name: "files", Transport: Stdio, Command: "x"}); in || err != nil {
		t.Errorf("of a program: %v, %v", in, err)
	}
}
