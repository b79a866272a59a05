// SPDX-License-Identifier: Apache-2.0
//
// A sum from Rust.
//
//     rustc --edition 2021 reduce.rs -l tilefold && ./reduce
use std::ffi::{c_char, c_void, CStr};

#[repr(C)]
#[derive(Clone, Copy)]
struct Dtype {
    code: u8,
    bits: u8,
    lanes: u16,
}
const FLOAT64: Dtype = Dtype { code: 2, bits: 64, lanes: 1 };

extern "C" {
    fn tilefold_host_executor(threads: i32, executor: *mut *mut c_void) -> i32;
    fn tilefold_reduce(
        executor: *mut c_void,
        op: *const c_char,
        items: *const c_void,
        dtype: Dtype,
        n: i64,
        result: *mut c_void,
    ) -> i32;
    fn tilefold_destroy(executor: *mut c_void);
    fn tilefold_last_error() -> *const c_char;
}

fn must(status: i32) {
    if status != 0 {
        let text = unsafe { CStr::from_ptr(tilefold_last_error()) };
        panic!("{}", text.to_string_lossy());
    }
}

fn main() {
    let x: Vec<f64> = (1..=1000).map(f64::from).collect();
    let mut host = std::ptr::null_mut();
    let mut total = 0.0f64;
    unsafe {
        must(tilefold_host_executor(0, &mut host));
        must(tilefold_reduce(
            host,
            c"sum".as_ptr(),
            x.as_ptr().cast(),
            FLOAT64,
            x.len() as i64,
            (&mut total as *mut f64).cast(),
        ));
        tilefold_destroy(host);
    }
    println!("sum {total}");
    assert_eq!(total, 500500.0);
}
