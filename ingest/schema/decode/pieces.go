package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// pieces is a long file of JSON lines that is read a piece at a time: 300 MB of records take the memory of a few
// pieces. Data holds the first piece alone.
type pieces struct {
	in   io.ReaderAt
	size int64
}

// pieceSize is how much is read at once; a longer line is read whole.
const pieceSize = 2 << 20

// longestLine bounds a line that is read in pieces.
const longestLine = 256 << 20

// openPieces opens a long file whose first lines are objects, one a line; ok is false for any other.
func (f *File) openPieces(in io.ReaderAt, size int64) (ok bool, err error) {
	head := make([]byte, min(pieceSize, size))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return false, err
	}
	end := bytes.LastIndexByte(head, '\n')
	if end < 0 || !isLines(head[:end+1]) {
		return false, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(in, 0, size)); err != nil {
		return false, err
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	f.Content, f.Data, f.foreign = f.SHA256, head[:end+1], true
	f.pieces = &pieces{in, size}
	return true, nil
}

// isLines reports that a text begins with two objects of a line each.
func isLines(text []byte) bool {
	for range 2 {
		line, rest, more := bytes.Cut(text, []byte("\n"))
		s := NewScanner(line, 1_000)
		if len(line) == 0 || line[0] != '{' || s.Skip() == nil || len(bytes.TrimSpace(line[s.pos:])) > 0 || !more {
			return false
		}
		text = rest
	}
	return true
}

// Each lets read consume every whole value of a JSON file with a scanner, without building it. What read notes of a
// value counts only if the scanner has no error afterwards.
func (f *File) Each(read func(s *Scanner)) {
	var buffer []byte // what a scanner read is not kept
	f.walk(&buffer, func(s *Scanner) bool { read(s); return true })
}

// walk visits the values until visit returns false; then the problems of the rest are not known. Pieces are read
// into the buffer, or each into memory of its own where it is nil.
func (f *File) walk(buffer *[]byte, visit func(s *Scanner) (more bool)) {
	more := true
	step := func(s *Scanner) { more = visit(s) || s.err != nil }
	if f.pieces == nil {
		st := stream{s: NewScanner(f.Data, f.lim.Depth), lim: f.lim}
		for more && st.advance(step) {
		}
		if more {
			f.settle(&st)
		}
		return
	}
	all := stream{s: NewScanner(nil, f.lim.Depth), lim: f.lim}
	var off int64
	line, size := 0, pieceSize
	for off < f.pieces.size && !all.gaveUp {
		text, last := f.pieces.read(buffer, off, size)
		if text == nil && !last { // no line ends within it
			size *= 2
			continue
		}
		st := stream{s: NewScanner(text, f.lim.Depth), lim: f.lim, goesOn: !last && size < longestLine}
		st.lim.Values -= all.kept
		for more && st.advance(step) {
		}
		if !more {
			return
		}
		all.add(&st, text, line)
		used := len(text)
		if st.gaveUp && st.goesOn && st.lost < maxFaults && st.kept < st.lim.Values {
			used = st.at
		}
		if size = pieceSize; used == 0 {
			size = 2 * max(len(text), pieceSize)
		}
		off += int64(used)
		line += bytes.Count(text[:used], []byte("\n"))
		if last && used == len(text) {
			break
		}
	}
	f.settle(&all)
}

// read returns whole lines from an offset on; last reports that the file ends with them. It returns nil where no line
// ends within that size.
func (p *pieces) read(buffer *[]byte, off int64, size int) (text []byte, last bool) {
	want := int(min(int64(size), p.size-off))
	if buffer != nil && cap(*buffer) >= want {
		text = (*buffer)[:want]
	} else if text = make([]byte, want); buffer != nil {
		*buffer = text
	}
	n, err := p.in.ReadAt(text, off)
	text = text[:n]
	if last = off+int64(n) >= p.size || err != nil && err != io.EOF || n == 0; last || size >= longestLine {
		return text, last
	}
	end := bytes.LastIndexByte(text, '\n')
	if end < 0 {
		return nil, false
	}
	return text[:end+1], false
}

// add takes over what was found in a piece that begins after some lines.
func (st *stream) add(piece *stream, text []byte, line int) {
	st.kept += piece.kept
	st.nonFinite += piece.nonFinite + piece.s.nonFinite
	for _, e := range piece.faults {
		if len(st.faults) < shownFaults {
			e.line, e.column = position(text, e.Offset)
			e.line += line
			st.faults = append(st.faults, e)
		}
	}
	st.lost += piece.lost
	st.abandoned = st.abandoned || piece.abandoned
	st.gaveUp = st.lost >= maxFaults || st.kept >= st.lim.Values
}
