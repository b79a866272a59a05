! SPDX-License-Identifier: Apache-2.0
!
! A sum from Fortran, by iso_c_binding.
!
!     gfortran reduce.f90 -ltilefold && ./a.out
program reduce
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: dtype
    integer(c_int8_t) :: code
    integer(c_int8_t) :: bits
    integer(c_int16_t) :: lanes
  end type

  interface
    integer(c_int32_t) function tilefold_host_executor(threads, executor) bind(c)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(out) :: executor
    end function
    integer(c_int32_t) function tilefold_reduce(executor, op, items, type, n, result) bind(c)
      import :: c_int32_t, c_int64_t, c_ptr, c_char, dtype
      type(c_ptr), value :: executor
      character(kind=c_char), intent(in) :: op(*)
      type(c_ptr), value :: items
      type(dtype), value :: type
      integer(c_int64_t), value :: n
      type(c_ptr), value :: result
    end function
    subroutine tilefold_destroy(executor) bind(c)
      import :: c_ptr
      type(c_ptr), value :: executor
    end subroutine
  end interface

  type(dtype), parameter :: float64 = dtype(2_c_int8_t, 64_c_int8_t, 1_c_int16_t)
  type(c_ptr) :: host
  real(c_double), target :: x(1000), total
  integer :: i

  x = [(real(i, c_double), i = 1, 1000)]
  if (tilefold_host_executor(0_c_int32_t, host) /= 0) error stop "no executor"
  if (tilefold_reduce(host, "sum" // c_null_char, c_loc(x), float64, 1000_c_int64_t, &
                      c_loc(total)) /= 0) error stop "no sum"
  call tilefold_destroy(host)
  print "(a, f0.1)", "sum ", total
  if (total /= 500500.0_c_double) error stop "a wrong sum"
end program
