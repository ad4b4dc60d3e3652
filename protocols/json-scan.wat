;; How many frames in a row are packets with one head, whatever their ids, numbers and payloads: `AlikeJson` in `json-alike.ts`, for the
;; plainest packets, in one call for a whole run. What this does not find is looked at there; what it finds is found there, too.
;; `npm run wasm` compiles it into `json-scan.wasm.ts`.
(module
  (memory (import "arena" "memory") 1)

  ;; The head that is looked for, written by the caller, up to the id and between the id and the tokens; sixteen bytes each at least.
  (global $before_length (export "beforeLength") (mut i32) (i32.const 0))
  (global $between_length (export "betweenLength") (mut i32) (i32.const 0))
  (global $before i32 (i32.const 1024))
  (global $between i32 (i32.const 4096))

  ;; Of all packets that were found.
  (global $tokens (export "tokens") (mut f64) (f64.const 0))
  ;; Where the last of them ends.
  (global $end_of_all (export "end") (mut i32) (i32.const 0))

  ;; Looks at the frames from $at on that end before $limit. One that is longer than $max_length is none.
  (func (export "countAlike") (param $at i32) (param $limit i32) (param $max_length i32) (result i32)
    (local $length i32) (local $end i32) (local $count i32) (local $found i32) (local $sum i64)
    (block $done
      (loop $next
        (br_if $done (i32.gt_u (i32.add (local.get $at) (i32.const 4)) (local.get $limit)))
        (local.set $length (call $length_at (local.get $at)))
        (br_if $done (i32.gt_u (local.get $length) (local.get $max_length)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (local.set $end (i32.add (local.get $at) (local.get $length)))
        (br_if $done (i32.gt_u (local.get $end) (local.get $limit)))
        (if (call $is_as_before (local.get $at) (local.get $end))
          (then (local.set $found (global.get $pattern_tokens)))
          (else
            (local.set $found (call $tokens_of (local.get $at) (local.get $end)))
            (br_if $done (i32.lt_s (local.get $found) (i32.const 0)))))
        (local.set $sum (i64.add (local.get $sum) (i64.extend_i32_u (local.get $found))))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (global.set $end_of_all (local.get $end))
        (local.set $at (local.get $end))
        (br $next)))
    (global.set $tokens (f64.convert_i64_s (local.get $sum)))
    (local.get $count))

  ;; The big-endian length of the frame that begins at $at.
  (func $length_at (param $at i32) (result i32)
    (local $word i32)
    (local.set $word (i32.load align=1 (local.get $at)))
    (i32.or
      (i32.and (i32.rotl (local.get $word) (i32.const 8)) (i32.const 0x00ff00ff))
      (i32.and (i32.rotr (local.get $word) (i32.const 8)) (i32.const 0xff00ff00))))

  ;; The tokens of the packet from $at to $end; -1 where it is not plainly of the head. Bytes behind $end may be looked at on the way, but
  ;; where the payload begins is compared with $end, and nothing before it lies behind it.
  (func $tokens_of (param $at i32) (param $end i32) (result i32)
    (local $begin i32) (local $id_end i32) (local $ts i32)
    (local $start i32) (local $tokens i32) (local $digits i32)
    (local.set $begin (local.get $at))
    (if (i32.eqz (call $is_at (local.get $at) (global.get $before) (global.get $before_length)))
      (then (return (i32.const -1))))
    (local.set $start (i32.add (local.get $at) (global.get $before_length)))
    (local.set $at (call $end_of_text (local.get $start)))
    (if (i32.eq (local.get $at) (local.get $start)) (then (return (i32.const -1))))
    (local.set $id_end (local.get $at))
    (if (i32.eqz (call $is_at (local.get $at) (global.get $between) (global.get $between_length)))
      (then (return (i32.const -1))))

    ;; One to nine digits, none of them a zero in front.
    (local.set $start (i32.add (local.get $at) (global.get $between_length)))
    (local.set $digits (call $digits_at (local.get $start)))
    (local.set $at (i32.add (local.get $start) (local.get $digits)))
    (if (i32.or (i32.eqz (local.get $digits)) (i32.gt_u (local.get $digits) (i32.const 9)))
      (then (return (i32.const -1))))
    (if (i32.and
          (i32.eq (i32.load8_u (local.get $start)) (i32.const 0x30))
          (i32.gt_u (local.get $digits) (i32.const 1)))
      (then (return (i32.const -1))))
    (loop $digit
      (local.set $tokens
        (i32.add
          (i32.mul (local.get $tokens) (i32.const 10))
          (i32.sub (i32.load8_u (local.get $start)) (i32.const 0x30))))
      (local.set $start (i32.add (local.get $start) (i32.const 1)))
      (br_if $digit (i32.lt_u (local.get $start) (local.get $at))))

    ;; ,"ts": and up to 15 digits
    (if (i32.or
          (i32.ne (i32.load align=1 (local.get $at)) (i32.const 0x7374222c))
          (i32.ne (i32.load offset=2 align=1 (local.get $at)) (i32.const 0x3a227374)))
      (then (return (i32.const -1))))
    (local.set $start (i32.add (local.get $at) (i32.const 6)))
    (local.set $ts (local.get $start))
    (local.set $digits (call $digits_at (local.get $start)))
    (local.set $at (i32.add (local.get $start) (local.get $digits)))
    (if (i32.or (i32.eqz (local.get $digits)) (i32.gt_u (local.get $digits) (i32.const 15)))
      (then (return (i32.const -1))))

    ;; ,"payload":{
    (if (i32.or
          (i64.ne (i64.load align=1 (local.get $at)) (i64.const 0x616f6c796170222c))
          (i32.ne (i32.load offset=8 align=1 (local.get $at)) (i32.const 0x7b3a2264)))
      (then (return (i32.const -1))))
    (local.set $at (i32.add (local.get $at) (i32.const 12)))
    (if (i32.eqz (call $is_last_object (local.get $at) (local.get $end))) (then (return (i32.const -1))))
    (call $learn
      (local.get $begin) (local.get $id_end) (local.get $ts) (local.get $digits) (local.get $at) (local.get $tokens))
    (local.get $tokens))

  ;; Whether the object whose inside begins at $at has its first } as its last, and behind it only that of the packet, which ends at $end.
  (func $is_last_object (param $at i32) (param $end i32) (result i32)
    (local $last i32) (local $found i32)
    (local.set $last (i32.sub (local.get $end) (i32.const 2)))
    (if (i32.gt_u (local.get $at) (local.get $last)) (then (return (i32.const 0))))
    (if (i32.ne (i32.load16_u align=1 (local.get $last)) (i32.const 0x7d7d)) (then (return (i32.const 0))))
    (local.set $found (call $braces_at (local.get $at)))
    (i32.eq
      (if (result i32) (local.get $found)
        (then (i32.add (local.get $at) (i32.ctz (local.get $found))))
        (else (call $close_brace (i32.add (local.get $at) (i32.const 16)) (local.get $last))))
      (local.get $last)))

  ;; The head of the last packets up to the payload's inside, for those that differ in id, time and payload alone: for each of its bytes
  ;; the lowest that may stand there, at 6400, and how many above it, at 7168. Without one its length is 0.
  (global $pattern_length (export "patternLength") (mut i32) (i32.const 0))
  (global $pattern_tokens (mut i32) (i32.const 0))
  ;; Of the last packet that was read piece by piece.
  (global $last_length (mut i32) (i32.const 0))
  (global $last_tokens (mut i32) (i32.const 0))

  ;; Makes the pattern once two packets in a row would have the same. Its id may have any of 0x23 to 0x7e, a backslash aside, which is
  ;; looked for in all of the head.
  (func $learn (param $begin i32) (param $id_end i32) (param $ts i32) (param $digits i32) (param $inside i32) (param $tokens i32)
    (local $length i32) (local $is_known i32) (local $id i32) (local $id_length i32)
    (local.set $length (i32.sub (local.get $inside) (local.get $begin)))
    (local.set $is_known
      (i32.and
        (i32.eq (local.get $length) (global.get $last_length))
        (i32.eq (local.get $tokens) (global.get $last_tokens))))
    (global.set $last_length (local.get $length))
    (global.set $last_tokens (local.get $tokens))
    (if (i32.eqz (local.get $is_known)) (then (return)))
    (if (i32.gt_u (local.get $length) (i32.const 768)) (then (return)))
    (memory.copy (i32.const 6400) (local.get $begin) (local.get $length))
    (memory.fill (i32.const 7168) (i32.const 0) (local.get $length))
    (local.set $id (global.get $before_length))
    (local.set $id_length (i32.sub (i32.sub (local.get $id_end) (local.get $begin)) (local.get $id)))
    (memory.fill (i32.add (i32.const 6400) (local.get $id)) (i32.const 0x23) (local.get $id_length))
    (memory.fill (i32.add (i32.const 7168) (local.get $id)) (i32.const 0x5b) (local.get $id_length))
    (local.set $ts (i32.sub (local.get $ts) (local.get $begin)))
    (memory.fill (i32.add (i32.const 6400) (local.get $ts)) (i32.const 0x30) (local.get $digits))
    (memory.fill (i32.add (i32.const 7168) (local.get $ts)) (i32.const 9) (local.get $digits))
    (global.set $pattern_tokens (local.get $tokens))
    (global.set $pattern_length (local.get $length)))

  ;; Whether $tokens_of the packet would be those of the pattern; not of all for which they would.
  (func $is_as_before (param $at i32) (param $end i32) (result i32)
    (local $i i32) (local $last i32) (local $bytes v128) (local $wrong v128) (local $backslash v128)
    (if (i32.eqz (global.get $pattern_length)) (then (return (i32.const 0))))
    (local.set $backslash (i8x16.splat (i32.const 0x5c)))
    (local.set $last (i32.sub (global.get $pattern_length) (i32.const 16)))
    (loop $next
      (local.set $bytes (v128.load align=1 (i32.add (local.get $at) (local.get $i))))
      (local.set $wrong
        (v128.or
          (v128.or (local.get $wrong) (i8x16.eq (local.get $bytes) (local.get $backslash)))
          (i8x16.sub_sat_u
            (i8x16.sub (local.get $bytes) (v128.load offset=6400 align=1 (local.get $i)))
            (v128.load offset=7168 align=1 (local.get $i)))))
      (if (i32.lt_u (local.get $i) (local.get $last))
        (then
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          ;; The last sixteen may lie over those before.
          (local.set $i
            (select (local.get $i) (local.get $last) (i32.lt_u (local.get $i) (local.get $last))))
          (br $next))))
    (if (v128.any_true (local.get $wrong)) (then (return (i32.const 0))))
    (call $is_last_object (i32.add (local.get $at) (global.get $pattern_length)) (local.get $end)))

  ;; Whether $length bytes at $at are those at $text: sixteen at a time, the last sixteen may lie over those before.
  (func $is_at (param $at i32) (param $text i32) (param $length i32) (result i32)
    (local $i i32) (local $last i32)
    (local.set $last (i32.sub (local.get $length) (i32.const 16)))
    (loop $next
      (if (i32.lt_s (local.get $i) (local.get $last))
        (then
          (if (v128.any_true
                (v128.xor
                  (v128.load align=1 (i32.add (local.get $at) (local.get $i)))
                  (v128.load align=1 (i32.add (local.get $text) (local.get $i)))))
            (then (return (i32.const 0))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br $next))))
    (i32.eqz
      (v128.any_true
        (v128.xor
          (v128.load align=1 (i32.add (local.get $at) (local.get $last)))
          (v128.load align=1 (i32.add (local.get $text) (local.get $last)))))))

  ;; Where the closing quote of a text of printable ASCII without escapes is; $start where it is another kind of text, or too long.
  (func $end_of_text (param $start i32) (result i32)
    (local $at i32) (local $bytes v128) (local $found i32)
    (local.set $at (local.get $start))
    (loop $next
      (local.set $bytes (v128.load align=1 (local.get $at)))
      ;; A quote, a backslash, or none of 0x20 to 0x7e.
      (local.set $found
        (i8x16.bitmask
          (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (v128.or
              (i8x16.lt_s (local.get $bytes) (i8x16.splat (i32.const 0x20)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x7f)))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $next
            (i32.le_u (i32.sub (local.get $at) (local.get $start)) (global.get $max_id_length)))
          (return (local.get $start)))))
    (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
    (if (result i32)
      (i32.and
        (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x22))
        (i32.le_u (i32.sub (local.get $at) (local.get $start)) (global.get $max_id_length)))
      (then (local.get $at))
      (else (local.get $start))))

  ;; `HEAD_LENGTHS.id` of `core/packet.ts`, set by the caller.
  (global $max_id_length (export "maxIdLength") (mut i32) (i32.const 0))

  ;; How many digits are at $at; 32 for more than 15.
  (func $digits_at (param $at i32) (result i32)
    (i32.ctz
      (i8x16.bitmask
        (i8x16.gt_s
          (i8x16.add (v128.load align=1 (local.get $at)) (i8x16.splat (i32.const 0x50)))
          (i8x16.splat (i32.const -119))))))

  ;; Where the first } from $at on is. There must be one, at $last at the latest.
  (func $close_brace (param $at i32) (param $last i32) (result i32)
    (local $found i32) (local $brace v128)
    (local.set $brace (i8x16.splat (i32.const 0x7d)))
    ;; Past sixty-four bytes at a time, as long as there are so many, and then to it.
    (block $near
      (loop $far
        (br_if $near (i32.gt_u (i32.add (local.get $at) (i32.const 64)) (local.get $last)))
        (br_if $near
          (v128.any_true
            (v128.or
              (v128.or
                (i8x16.eq (v128.load align=1 (local.get $at)) (local.get $brace))
                (i8x16.eq (v128.load offset=16 align=1 (local.get $at)) (local.get $brace)))
              (v128.or
                (i8x16.eq (v128.load offset=32 align=1 (local.get $at)) (local.get $brace))
                (i8x16.eq (v128.load offset=48 align=1 (local.get $at)) (local.get $brace))))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $far)))
    (loop $next
      (local.set $found (call $braces_at (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $next (i32.eqz (local.get $found))))
    (i32.add (i32.sub (local.get $at) (i32.const 16)) (i32.ctz (local.get $found))))

  ;; Which of the sixteen bytes at $at are }.
  (func $braces_at (param $at i32) (result i32)
    (i8x16.bitmask (i8x16.eq (v128.load align=1 (local.get $at)) (i8x16.splat (i32.const 0x7d))))))
