package egress

import (
	"net/http"
	"testing"
)

// The standard library reads the environment once in a process, so that a test
// which sets it would prove little.
func TestNoProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	outer, ok := new(Guard).Client(ClientConfig{}).Transport.(*transport)
	if !ok {
		t.Fatal("the client does not go through the guard")
	}
	inner, ok := outer.next.(*http.Transport)
	if !ok || inner.Proxy != nil {
		t.Error("a proxy would reach what the guard refuses")
	}
}
