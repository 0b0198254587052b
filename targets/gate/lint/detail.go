package lint

import (
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/ttreport/ttreport/ingest/schema"
)

// ID names a check, in configuration, data files and documentation.
type ID string

// Checks that others know.
const (
	IDDrift         ID = "drift"
	IDNothingGraded ID = "nothing-graded"
)

// Detail is what a check found, with the numbers of the worst case: one of the types below.
type Detail any

// Details about scores.
type (
	// ImpossibleScore is a share of right answers below 0 or above 1 (or 100).
	ImpossibleScore struct {
		Task, Metric string
		Value        float64
	}
	// ZeroScore is a score of exactly zero.
	ZeroScore struct {
		Task string
		N    int // questions
	}
	// FewItems is a score of fewer than ten questions.
	FewItems struct {
		Task  string
		N     int
		Value float64
	}
	// Subsampled is a score over the first questions of a task.
	Subsampled struct {
		Task string
		N    int
		Of   int // 0: not stated
	}
	// ZeroStderr is a perfect score with a standard error of zero.
	ZeroStderr struct {
		Task string
		N    int
	}
)

// Details about points. Latencies are in milliseconds.
type (
	// EmptyResponses are requests that count as completed and have no output.
	EmptyResponses struct{ Found string }
	// OtherUnit is a latency of about a thousand times, or a thousandth of, what the release before has; or, without
	// Metric, requests in flight that the load asked and that the latencies leave, by Little's law.
	OtherUnit struct {
		Metric         string
		Now, Then      float64
		Before         string // the release
		Asked, Reached float64
	}
	// MoreFailures is a workload of which more requests fail than in the release before.
	MoreFailures struct {
		Failed, Of, FailedBefore, OfBefore float64
		Before                             string // the release
	}
	// FailedShare is a point whose statistics leave out failed requests.
	FailedShare struct{ Failed, Of float64 }
	// Saturated is a requested load that was not reached: requests a second, or requests in flight.
	Saturated struct {
		Rate           bool
		Asked, Reached float64
	}
	// ShortAnswers are answers of fewer tokens than requested.
	ShortAnswers struct{ Asked, Got float64 }
	// OtherLengths are prompts, or answers, of another length than asked.
	OtherLengths struct {
		Prompts    bool // else answers
		Asked, Got float64
	}
	// ColdStart is a mean TTFT far above the median.
	ColdStart struct{ Mean, Median, N float64 }
	// SecondTokenStall is one long gap a request.
	SecondTokenStall struct{ Stall, Median, Mean float64 }
	// PrefixCache is a first repeat slower than all later ones, or a share of cached tokens that the server counted.
	PrefixCache struct{ First, Later, Cached float64 }
	// FewRequests is a latency of one or two requests.
	FewRequests struct{ N float64 }
	// FewForTail is a P99 of fewer than 100 requests.
	FewForTail struct{ N float64 }
	// Unsettled is a measurement with --until that drifts, or whose requests depend on all that was before.
	Unsettled struct {
		Metric string  // that drifts; "" for none
		Drift  float64 // percent, from the beginning to the end
	}
	// OpenSearch is a largest load of which measurements contradict each other: what mostly held, and the smallest that
	// mostly did not; 0 where there is none.
	OpenSearch struct {
		Rate         bool // requests a second, else at once
		Holds, Fails float64
	}
	// Overload is an open loop whose requests arrived faster than they left; it ended early.
	Overload struct{ After float64 } // requests
	// Imprecise is a mean that a measurement with --until could not make as exact as asked.
	Imprecise struct {
		Metric         string
		Asked, Reached float64 // half width of the 95 % interval, percent of the mean
	}
	// ImpossibleError is a standard error that the number cannot have.
	ImpossibleError struct {
		Name        string // metric, or task
		Value, Most float64
	}
	// NotPositive is a value that no measurement can give.
	NotPositive struct {
		Metric string
		Value  float64
	}
)

// Details about runs.
type (
	// NoCommits is an image without digest or commits.
	NoCommits struct{ Image string }
	// LatestImage is an image tag that moves.
	LatestImage struct{ Image string }
	// DirtyBuild is software with uncommitted changes.
	DirtyBuild struct{}
	// MixedTools is a workload measured with other tools than before.
	MixedTools struct{ Now, Before string }
	// NothingGraded is a model and device without a graded number.
	NothingGraded struct{}
	// StaleTargets are targets much older than the run they grade.
	StaleTargets struct {
		Source, AsOf string
		Days         int
	}
	// NoStart is a run without a start time.
	NoStart struct{}
	// BadTimestamps are impossible times.
	BadTimestamps struct{ Start, End time.Time }
	// DuplicateRun is a run that is in the history twice, or results of it that are copies of another release's.
	DuplicateRun struct {
		Path, Of string
		Same     bool   // with the same numbers
		Copy     string // what the file is, where it is a copy of another release's
		Files    int    // copies, where all files of the run are
	}
	// NoPair is a run that states another one with which it took turns, and that decides nothing.
	NoPair struct {
		With string // id of the other run
		schema.Mismatch
	}
	// Unread is a file of the run's folder that could not be read.
	Unread struct{ Found string }
	// ReportRejects is a report beside the results that rejects the release for something that no target covers.
	ReportRejects struct {
		Report           string
		Blocker, Message string // the first
		More             int    // further blockers
	}
	// ReleaseOrder is a release that comes after one whose name is that of a later version.
	ReleaseOrder struct{ Name, Before string }
	// LostDocument is a document of the history that cannot be read.
	LostDocument struct {
		Path, Found string
		More        int // other documents
	}
)

// Details about releases and decisions.
type (
	// UnknownChannel is an unknown channel, which never serves as a baseline.
	UnknownChannel struct {
		Channel string
		Known   []string
	}
	// CutOff is a release whose predecessors are all on other lines.
	CutOff struct{ Own, Others string }
	// Unlisted is a release of ttreport.yaml without runs.
	Unlisted struct{}
	// Drift is a number, or a metric of a model on a device as a whole, with a small regression in every release.
	Drift struct {
		Metric         string
		N              int // releases
		Each, Total, P float64
		Cells          int // numbers of the model on the device that drift together, by their median; 0: one number
	}
	// UnusedDecision is a decision without effect.
	UnusedDecision struct{ What string }
)

// idOf names the check that finds a detail: as its type, in small letters with hyphens, but for those of releases.
func idOf(d Detail) ID {
	switch d.(type) {
	case UnknownChannel:
		return "channel"
	case CutOff, Unlisted:
		return "release-list"
	}
	var b strings.Builder
	for i, c := range reflect.TypeOf(d).Name() {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return ID(b.String())
}
