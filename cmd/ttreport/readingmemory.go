package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// readingMemory is a soft limit of memory while files are read: beyond it, garbage is collected more often. A hostile
// file may ask for all the memory that the limits leave it; the collector must run before twice of it is taken.
const readingMemory = 180 << 20

// boundMemory bounds the memory of reading until the function that it returns is called. What is in use may come to
// more than the limit, where a release has thousands of results; the limit then stays a quarter above it, or the
// collector would do nothing but look for garbage that is not there.
func boundMemory() (end func()) {
	before := debug.SetMemoryLimit(readingMemory)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		limit := int64(readingMemory)
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if next := max(readingMemory, inUse()+inUse()/4); next > limit+limit/50 || next < limit-limit/50 {
				limit = next
				debug.SetMemoryLimit(limit)
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		debug.SetMemoryLimit(before)
	}
}

// inUse returns the bytes that the last collection found in use.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// buildingGarbage is how much garbage a build lets stand before it is collected, in percent of what is in use: 60 in
// place of Go's 100 saves a quarter of the memory of a large history, for processor time that cannot be measured.
const buildingGarbage = 60

// boundGarbage sets that until the function that it returns is called, unless the environment says otherwise.
func boundGarbage() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(buildingGarbage)
	return func() { debug.SetGCPercent(before) }
}
