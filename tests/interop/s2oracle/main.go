// s2oracle answers for Go's s2 package over pipes, so that a test can put many questions to one
// process.
//
//	question = command byte, u32le size, that many bytes
//	answer   = status byte (0 done, 1 refused), u32le size, that many bytes
//
// Commands: d decode; f b B encode fast, better, best; s encode as Snappy; D decode a stream;
// w W i encode a stream: with 64 KiB blocks, better with 1 MiB, padded and with an index.
//
// For benches: L keeps a buffer, Z drops all that are kept; t and T go over all of them once on one
// thread, t encoding by the encoder that the body names, T decoding, and answer with the
// nanoseconds and the bytes that came out, both u64le.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/klauspost/compress/s2"
)

// Go allocates what a header declares: larger blocks are refused here, as the tests do on our side.
const decodedMax = 64 << 20

var encoders = map[byte]func(dst, src []byte) []byte{
	'f': s2.Encode,
	'b': s2.EncodeBetter,
	'B': s2.EncodeBest,
	's': s2.EncodeSnappy,
}

func decode(block []byte) ([]byte, bool) {
	size, err := s2.DecodedLen(block)
	if err != nil || size > decodedMax {
		return nil, false
	}
	data, err := s2.Decode(nil, block)
	return data, err == nil
}

var writers = map[byte][]s2.WriterOption{
	'w': {s2.WriterBlockSize(64 << 10)},
	'W': {s2.WriterBetterCompression()},
	'i': {s2.WriterAddIndex(), s2.WriterPadding(4096)},
}

// A reader that can seek is taken past its end without an error when a chunk to be skipped is cut:
// the struct hides that it can.
func decodeStream(stream []byte) ([]byte, bool) {
	reader := s2.NewReader(struct{ io.Reader }{bytes.NewReader(stream)})
	data, err := io.ReadAll(io.LimitReader(reader, decodedMax))
	return data, err == nil
}

func encodeStream(data []byte, options []s2.WriterOption) ([]byte, bool) {
	var stream bytes.Buffer
	writer := s2.NewWriter(&stream, options...)
	if _, err := writer.Write(data); err != nil {
		return nil, false
	}
	err := writer.Close()
	return stream.Bytes(), err == nil
}

var kept [][]byte

// Targets are made and touched before the clock starts, and nothing is collected while it runs.
func timedPass(sizeOf func([]byte) int, work func(dst, src []byte) []byte) ([]byte, bool) {
	targets := make([][]byte, len(kept))
	for i, source := range kept {
		targets[i] = make([]byte, sizeOf(source))
		for at := 0; at < len(targets[i]); at += 4096 {
			targets[i][at] = 1
		}
	}
	runtime.GC()
	collecting := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(collecting)
	total := 0
	start := time.Now()
	for i, source := range kept {
		total += len(work(targets[i], source))
	}
	elapsed := time.Since(start)
	var result [16]byte
	binary.LittleEndian.PutUint64(result[:], uint64(elapsed.Nanoseconds()))
	binary.LittleEndian.PutUint64(result[8:], uint64(total))
	return result[:], total > 0
}

func timed(command byte, body []byte) ([]byte, bool) {
	switch command {
	case 'L':
		kept = append(kept, body)
	case 'Z':
		kept = nil
	case 't':
		return timedPass(func(source []byte) int { return s2.MaxEncodedLen(len(source)) },
			encoders[body[0]])
	case 'T':
		return timedPass(func(source []byte) int {
			size, err := s2.DecodedLen(source)
			if err != nil {
				log.Fatal(err)
			}
			return size
		}, func(dst, src []byte) []byte {
			data, err := s2.Decode(dst, src)
			if err != nil {
				log.Fatal(err)
			}
			return data
		})
	}
	return nil, true
}

func answer(command byte, body []byte) ([]byte, bool) {
	if bytes.IndexByte([]byte("LZtT"), command) >= 0 {
		return timed(command, body)
	}
	if command == 'd' {
		return decode(body)
	}
	if command == 'D' {
		return decodeStream(body)
	}
	if options, known := writers[command]; known {
		return encodeStream(body, options)
	}
	encode, known := encoders[command]
	if !known {
		log.Fatalf("unknown command %q", command)
	}
	return encode(nil, body), true
}

func main() {
	runtime.GOMAXPROCS(1)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var head [5]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(in, body); err != nil {
			log.Fatal(err)
		}
		result, done := answer(head[0], body)
		head[0] = 0
		if !done {
			head[0], result = 1, nil
		}
		binary.LittleEndian.PutUint32(head[1:], uint32(len(result)))
		out.Write(head[:])
		out.Write(result)
		if err := out.Flush(); err != nil {
			log.Fatal(err)
		}
	}
}
