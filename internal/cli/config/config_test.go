package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

// TestSchemaPermissions checks that the schema lists the fields of a rule, and only values that the
// permission and search packages accept.
func TestSchemaPermissions(t *testing.T) {
	s, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	rule := s.Properties["permissions"].Properties["rules"].Items
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[permission.Rule]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			fields = append(fields, name)
		}
	}
	if diff := cmp.Diff(fields, rule.PropertyOrder); diff != "" || len(rule.Properties) != len(fields) {
		t.Error(diff, len(rule.Properties))
	}
	for _, kind := range rule.Properties["kind"].Enum {
		if _, err := permission.ParseRules([]byte(`[{"kind":"`+kind.(string)+`","decision":"deny"}]`), permission.OriginUser); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, decision := range rule.Properties["decision"].Enum {
		if _, err := permission.ParseRules([]byte(`[{"kind":"net","pattern":"a.org","decision":"`+decision.(string)+`"}]`), permission.OriginUser); err != nil {
			t.Errorf("%s: %v", decision, err)
		}
	}
	var named []string
	for _, mode := range s.Properties["permissions"].Properties["mode"].Enum {
		named = append(named, mode.(string))
		if _, err := permission.ParseMode(mode.(string)); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(named, turn.Modes) {
		t.Errorf("modes %v, want %v", named, turn.Modes)
	}
	t.Setenv("PAWL_DATA", t.TempDir())
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	keys, err := app.OpenKeys()
	if err != nil {
		t.Fatal(err)
	}
	services := websearch.Opener{Guard: &egress.Guard{}, Keys: keys}
	for _, id := range s.Properties["websearch"].Properties["service"].Enum {
		if _, err := services.Web(websearch.Config{Service: id.(string), URL: "https://example.org"}); err != nil {
			t.Error(err)
		}
	}
	for _, id := range s.Properties["codesearch"].Properties["service"].Enum {
		if _, err := services.Code(websearch.Config{Service: id.(string), URL: "https://example.org"}); err != nil {
			t.Error(err)
		}
	}
}

// TestCheckRules checks that each invalid rule is reported, and that there is a warning about a
// project's rule that allows something.
func TestCheckRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		origin permission.Origin
		want   []string
	}{
		{`[{"kind":"net","decision":"deny"}]`, permission.OriginUser, nil},
		{`{}`, permission.OriginUser, []string{"error: permissions.rules must be a list of rules"}},
		{`[{"kind":"net","decision":"deny"},{"kind":"nett","decision":"deny","patern":"x"},{"tool":"bash","pattern":"ls","decision":"maybe"}]`, permission.OriginUser, []string{
			`error: rule 2, unknown key "patern"`, `error: rule 3, maybe bash "ls": unknown decision "maybe": use allow, ask or deny`,
		}},
		{`[{"tool":"bash","pattern":"ls","decision":"deny","not_match":["ls"]}]`, permission.OriginUser, []string{`error: rule 1, deny bash "ls": the pattern matches "ls", which its examples exclude`}},
		{`[{"tool":"bash","pattern":"ls","decision":"allow"}]`, permission.OriginProject, []string{`warning: rule 1, allow bash "ls" is ignored: a project may only ask or deny`}},
		{"[" + strings.TrimSuffix(strings.Repeat(`{"kind":"net","decision":"deny"},`, 1001), ",") + "]", permission.OriginUser, []string{"error: read rules: too many (1001, the limit is 1000)"}},
	} {
		var got []string
		for _, f := range checkRules([]byte(tt.text), tt.origin) {
			got = append(got, f.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%.80s %s", tt.text, diff)
		}
	}
}
