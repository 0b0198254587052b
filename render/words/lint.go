package words

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Lint is a lint as one sentence with the numbers of its worst case.
func Lint(l lint.Lint) string {
	out := aboutLint(&l)
	if l.Count > 1 {
		where := ""
		if l.Run != "" {
			where = " in this run"
		}
		out += fmt.Sprintf(" %d cases%s; this is the worst.", l.Count, where)
	}
	if l.Decision != nil {
		out += " " + DecisionNote(*l.Decision)
	}
	return out
}

// aboutLint has a sentence for each detail; [TestEveryLintIsASentence] fails for one without.
func aboutLint(l *lint.Lint) string {
	all := []func(string, lint.Detail) string{scoreLint, beforeLint, pointLint, untilLint, runLint, historyLint}
	subject := l.Subject
	if l.ID == lint.IDDrift {
		subject = strings.TrimSpace(OnDevice(l.Model, l.Device) + " " + subject)
	}
	for _, say := range all {
		if s := say(subject, l.Detail); s != "" {
			return s
		}
	}
	return ""
}

// questions is a number of questions; 0 stands for one that no file states.
func questions(n int) string {
	if n == 0 {
		return "an unstated number of questions"
	}
	return Plural(n, "question")
}

func scoreLint(_ string, detail lint.Detail) string {
	switch d := detail.(type) {
	case lint.ZeroScore:
		of := ""
		if d.N > 0 {
			of = " of " + Plural(d.N, "question")
		}
		return fmt.Sprintf("%s scores exactly 0%s: look at the harness's log before believing it.", d.Task, of)
	case lint.ImpossibleScore:
		return fmt.Sprintf("%s: %s of %s is not a share of right answers; its harness failed, or its unit is another.",
			d.Task, d.Metric, digits(d.Value))
	case lint.FewItems:
		return fmt.Sprintf("%s is %s from %d questions: one more right answer would change it by 1/%d.",
			d.Task, digits(d.Value), d.N, d.N)
	case lint.Subsampled:
		of := "the task's"
		if d.Of > 0 {
			of = fmt.Sprint(d.Of)
		}
		first := "only the first"
		if d.N > 0 {
			first = fmt.Sprintf("the first %d", d.N)
		}
		return fmt.Sprintf("%s asked %s of %s questions, which are no random sample.", d.Task, first, of)
	case lint.ZeroStderr:
		return fmt.Sprintf("%s is perfect with a standard error of 0; over %s that is no certainty, "+
			"and Wilson's interval is used.", d.Task, questions(d.N))
	}
	return ""
}

// beforeLint is about points that differ from those of the release before as no build makes them differ.
func beforeLint(subject string, detail lint.Detail) string {
	switch d := detail.(type) {
	case lint.OtherUnit:
		if d.Metric == "" {
			return fmt.Sprintf("%s: by its rate and E2EL, %s requests were in flight where %s were asked: the latencies are "+
				"in another unit than the file states.", subject, digits(d.Reached), digits(d.Asked))
		}
		return fmt.Sprintf("%s: mean %s is %s, and %s in %s: one of both is in another unit than its file states.", subject,
			label(d.Metric), Quantity(d.Now, "ms"), Quantity(d.Then, "ms"), d.Before)
	case lint.MoreFailures:
		return fmt.Sprintf("%s: %s of %s requests failed, %s of %s in %s; the statistics are of the others.", subject,
			digits(d.Failed), digits(d.Of), digits(d.FailedBefore), digits(d.OfBefore), d.Before)
	}
	return ""
}

func pointLint(subject string, detail lint.Detail) string {
	switch d := detail.(type) {
	case lint.EmptyResponses:
		return sentence("Requests count as completed that produced nothing: " + d.Found)
	case lint.FailedShare:
		return fmt.Sprintf("%s: %s of %s requests failed, and the statistics are of the others.",
			subject, digits(d.Failed), digits(d.Of))
	case lint.Saturated:
		what, unit := "concurrency", ""
		if d.Rate {
			what, unit = "rate", Thin+"req/s"
		}
		return fmt.Sprintf("%s: %s %s was asked and %s reached: the client or the server could not hold the load.",
			subject, what, digits(d.Asked)+unit, digits(d.Reached)+unit)
	case lint.ShortAnswers:
		return fmt.Sprintf("%s: answers of %s tokens on average where %s were asked.",
			subject, digits(d.Got), digits(d.Asked))
	case lint.OtherLengths:
		what := "answers"
		if d.Prompts {
			what = "prompts"
		}
		return fmt.Sprintf("%s: %s of %s tokens on average where %s were asked.", subject, what, digits(d.Got),
			digits(d.Asked))
	case lint.ColdStart:
		return fmt.Sprintf("%s: mean TTFT %s ms against a median of %s ms over %s requests: the first ones paid for a "+
			"cold server.", subject, digits(d.Mean), digits(d.Median), digits(d.N))
	case lint.SecondTokenStall:
		return fmt.Sprintf("%s: one gap of about %s ms a request against a median of %s ms, hidden in a mean of %s ms.",
			subject, digits(d.Stall), digits(d.Median), digits(d.Mean))
	case lint.PrefixCache:
		return cached(subject, d)
	case lint.FewRequests:
		return fmt.Sprintf("%s: latencies of %s.", subject, Plural(int(d.N), "request"))
	case lint.FewForTail:
		return fmt.Sprintf("%s: a P99 of so few requests (%s) is not shown.", subject, digits(d.N))
	case lint.ImpossibleError:
		return fmt.Sprintf("%s: a standard error of %s for %s, which can be at most %s.",
			subject, digits(d.Value), label(d.Name), digits(d.Most))
	case lint.NotPositive:
		return fmt.Sprintf("%s: %s of %s %s is not a measurement.",
			subject, label(d.Metric), digits(d.Value), schema.Unit(d.Metric))
	}
	return ""
}

// untilLint is about measurements with --until.
func untilLint(subject string, detail lint.Detail) string {
	switch d := detail.(type) {
	case lint.Unsettled:
		if d.Metric != "" {
			return fmt.Sprintf("%s: %s changed by %s while it was measured: it is no mean of a steady server.",
				subject, label(d.Metric), Change(d.Drift/100))
		}
		return subject + ": the measurement did not become steady, so its intervals say less than they seem to."
	case lint.OpenSearch:
		unit := "at once"
		if d.Rate {
			unit = "req/s"
		}
		out := fmt.Sprintf("%s: %s hold", subject, Quantity(d.Holds, unit))
		if d.Fails > 0 {
			out += fmt.Sprintf(" and %s do not", Quantity(d.Fails, unit))
		}
		return out + ", but measurements of these loads contradict each other."
	case lint.Overload:
		return fmt.Sprintf("%s: requests arrived faster than they left; the load ended after %s of them, and its latencies "+
			"say how long it lasted.", subject, digits(d.After))
	case lint.Imprecise:
		return fmt.Sprintf("%s: mean %s is known to ±%s%%, where ±%s%% was asked: the time was over.",
			subject, label(d.Metric), digits(d.Reached), digits(d.Asked))
	}
	return ""
}

func runLint(subject string, detail lint.Detail) string {
	switch d := detail.(type) {
	case lint.NoCommits:
		return fmt.Sprintf("Image %s has no digest, and no commit is stated: it cannot be built again.", d.Image)
	case lint.LatestImage:
		return fmt.Sprintf("Image %s names a tag that moves.", d.Image)
	case lint.DirtyBuild:
		return "The software was built from uncommitted changes."
	case lint.MixedTools:
		return fmt.Sprintf("%s: measured with %s now and with %s before: nothing of it is compared.",
			subject, d.Now, d.Before)
	case lint.NothingGraded:
		return "Measured, and not one number was graded, by target or by history: that is not a pass."
	case lint.StaleTargets:
		return fmt.Sprintf("Targets of %s are from %s, %d days before the run.", d.Source, d.AsOf, d.Days)
	case lint.NoStart:
		return "The run does not say when it was measured, so it is ordered after everything that does; " +
			"a manifest can state start."
	case lint.BadTimestamps:
		return fmt.Sprintf("It started at %s and ended at %s, which cannot be: its place in the history is wrong.",
			d.Start.UTC().Format(time.DateTime), d.End.UTC().Format(time.DateTime))
	case lint.NoPair:
		return fmt.Sprintf("It states that it took turns with run %s, and that pair decides nothing: %s.", d.With,
			Mismatch(d.Mismatch))
	case lint.Unread:
		return fmt.Sprintf("%s beside its results could not be read: %s. What it holds is not in this release.",
			subject, strings.TrimSuffix(d.Found, "."))
	case lint.DuplicateRun:
		if d.Copy != "" {
			return copied(d)
		}
		if !d.Same {
			return fmt.Sprintf("%s is run %s again with other numbers; the first counts, and one of the two is false.",
				d.Path, d.Of)
		}
		return fmt.Sprintf("%s is run %s once more: it counts for nothing, and confirms nothing.", d.Path, d.Of)
	}
	return ""
}

// copied says what of a release is another release's.
func copied(d lint.DuplicateRun) string {
	if d.Files == 0 {
		return fmt.Sprintf("%s has %s: a copy is not a measurement, and was left out.", d.Path, d.Copy)
	}
	more := ""
	if d.Files > 1 {
		more = ", and so for all " + Plural(d.Files, "file") + " of this run"
	}
	return fmt.Sprintf("%s has %s%s: a copy is not a measurement, and nothing of it counts.", d.Path, d.Copy, more)
}

func historyLint(subject string, detail lint.Detail) string {
	switch d := detail.(type) {
	case lint.LostDocument:
		more := ""
		if d.More > 0 {
			more = " and " + Plural(d.More, "other document") + " of the history"
		}
		return fmt.Sprintf("%s (%s)%s cannot be read: what is lost is not in this decision.", d.Path, d.Found, more)
	case lint.ReportRejects:
		return reportRejects(d)
	case lint.ReleaseOrder:
		return fmt.Sprintf("%s comes after %s, by its date or because it has none: state its start, its line, or the order "+
			"in ttreport.yaml (releases:).", d.Name, d.Before)
	case lint.UnknownChannel:
		return fmt.Sprintf("%s: its channel is %q, which is none of %s: it is judged like a build in development and is "+
			"never a baseline.", cmp.Or(subject, "a build"), d.Channel, strings.Join(d.Known, ", "))
	case lint.CutOff:
		return fmt.Sprintf("%s is on %s, and every earlier release is on another line (%s): it is compared with nothing. "+
			"State its line where the others have theirs.", subject, d.Own, d.Others)
	case lint.Unlisted:
		return fmt.Sprintf("%s is listed in ttreport.yaml and no run is of that release: check the spelling, "+
			"since the list decides the order.", subject)
	case lint.Drift:
		if d.Cells > 0 {
			return fmt.Sprintf("%s: the median %s of %s gets %s worse a release, %s over %d releases "+
				"(Mann-Kendall, p = %.2g).", subject, label(d.Metric), Plural(d.Cells, "workload"), Percent(d.Each),
				Percent(d.Total), d.N, d.P)
		}
		return fmt.Sprintf("%s: %s gets %s worse a release, %s over %d releases (Mann-Kendall, p = %.2g).", subject,
			label(d.Metric), Percent(d.Each), Percent(d.Total), d.N, d.P)
	case lint.UnusedDecision:
		return sentence("A decision does nothing: " + d.What)
	}
	return ""
}

// reportRejects says why a report beside the results rejects the release.
func reportRejects(d lint.ReportRejects) string {
	out := d.Report + " rejects this release"
	if d.Blocker != "" {
		out += " for " + d.Blocker + " (" + strings.TrimSuffix(d.Message, ".") + ")"
	}
	if d.More > 0 {
		out += " and " + Plural(d.More, "other blocker")
	}
	return out + "; no required target fails here: look at its blockers."
}

func cached(subject string, d lint.PrefixCache) string {
	if d.Cached > 0 {
		return fmt.Sprintf("%s: %.0f%s%% of the prompts' tokens were in the server's cache, and TTFT is that of the cache.",
			subject, 100*d.Cached, Thin)
	}
	return fmt.Sprintf("%s: TTFT %s ms the first time and at most %s ms in every repeat: the prompts seem to be cached.",
		subject, digits(d.First), digits(d.Later))
}
