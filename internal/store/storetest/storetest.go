// Package storetest is the test suite that every implementation of [store.Store] must
// pass.
package storetest

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/store"
)

// Run tests a store. open returns an empty one, which is closed when its test ends.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, store.Store)
	}{
		{"append returns what events yield", appendRoundTrip},
		{"append takes every durable kind", appendEveryKind},
		{"append counts without gaps", appendCounts},
		{"append keeps microseconds in UTC", appendTimes},
		{"append refuses what is no log", appendRefuses},
		{"append refuses what cannot be read again", appendUnreadable},
		{"append is all or nothing", appendAllOrNothing},
		{"append to a canceled context writes nothing", appendCanceled},
		{"append from an old head conflicts", conflictOldHead},
		{"append to a missing session conflicts", conflictMissing},
		{"creating a session twice conflicts", conflictCreate},
		{"of 100 writers one wins each seq", conflictRace},
		{"of 100 creators one wins", conflictCreateRace},
		{"texts survive", texts},
		{"events come in pages", eventsPages},
		{"events hold nothing while the caller works", eventsNested},
		{"events of a missing session", eventsMissing},
		{"events of a session deleted in mid-read", eventsDeleted},
		{"the row is the fold of the log", projection},
		{"the row of a missing session", projectionMissing},
		{"usage is the fold of the replies", usageFold},
		{"usage by day, session and folder", usageFilters},
		{"usage by owner", usageOwners},
		{"usage of what was not written does not count", usageConflict},
		{"usage goes with its session and comes with an import", usageDelete},
		{"drafts overwrite", drafts},
		{"leases are taken, renewed and released", leaseLife},
		{"leases are busy", leaseBusy},
		{"leases lapse", leaseLapse},
		{"leases of a gone owner", leaseEnded},
		{"leases refuse nonsense", leaseRefuses},
		{"of 50 owners one gets the lease", leaseRace},
		{"blobs", blobs},
		{"blobs are large", blobLarge},
		{"blobs belong to their session", blobIsolated},
		{"blobs that are missing", blobMissing},
		{"blobs that break off", blobBroken},
		{"a session begins with its blobs", begin},
		{"a session that cannot begin is not there", beginBroken},
		{"lists are ordered and bounded", listOrder},
		{"lists by folder, parent and state", listFilters},
		{"lists by mission", listMissions},
		{"lists by ask", listAsking},
		{"lists by owner and by who may read", listOwners},
		{"lists have limits", listLimits},
		{"pages of a list contain each session once", listCursors},
		{"cursors are of one list", cursorsRefused},
		{"lists by state, agent and model", listStates},
		{"search by the beginnings of words", search},
		{"search conversations by words and phrases", conversations},
		{"search conversations with filters", conversationFilters},
		{"search finds what the conversation contains now", conversationChanges},
		{"search returns snippets", snippets},
		{"delete leaves nothing", deleteAll},
		{"delete leaves the others alone", deleteOne},
		{"delete of a leased session is busy", deleteBusy},
		{"delete of a missing session", deleteMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// RunTokens tests a store of tokens. open returns two handles on the same empty
// store, as two processes have; they are closed when the test ends.
func RunTokens(t *testing.T, open func(t *testing.T) (a, b store.Tokens)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b store.Tokens)
	}{
		{"tokens are kept whole, and found by their hash", tokensKept},
		{"tokens are refused", tokensRefused},
		{"tokens are revoked once", tokensRevoked},
		{"tokens are used", tokensUsed},
		{"links are redeemed once", linksRedeemed},
		{"passkeys are updated once", passkeysUpdated},
		{"links expire", linksExpire},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t)
			c.run(t, a, b)
		})
	}
}

// RunShared tests two handles on the same store, as two processes have. open returns
// them for an empty store; they are closed when the test ends.
func RunShared(t *testing.T, open func(t *testing.T) (a, b store.Store)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b store.Store)
	}{
		{"both see each other's events", sharedEvents},
		{"both append to their own sessions at once", sharedAppends},
		{"both race for one session", sharedRace},
		{"both respect the other's lease", sharedLease},
		{"both see each other's blobs, drafts and deletions", sharedRest},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t)
			c.run(t, a, b)
		})
	}
}
