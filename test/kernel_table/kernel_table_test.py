# SPDX-License-Identifier: Apache-2.0
#
# What kernel_table.py reads out of ptxas's report and nvdisasm's text, on pieces of both; and that a
# moved, a missing and a new row are told.
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import kernel_table
import machine_code

PTXAS = """ptxas info    : Compiling entry function '_Z1av' for 'sm_90'
ptxas info    : Function properties for _Z1av
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 132 bytes smem
ptxas info    : Function properties for _Z1bv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 9 registers
"""

SASS = """
\t.section\t.text._Z1av,"ax",@progbits
.text._Z1av:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E.128 R4, [R2.64] ;
.L_x_0:
        /*0020*/                   LDS R9, [R8] ;
        /*0030*/              @P0  BRA `(.L_x_0) ;
        /*0040*/                   LDG.E.64 R12, [R2.64+0x10] ;
        /*0050*/              @P1  BRA `(.L_x_1) ;
        /*0060*/                   EXIT ;
.L_x_2:
        /*0070*/                   BRA `(.L_x_2);
        /*0080*/                   NOP;
\t.section\t.text._Z1bv,"ax",@progbits
        /*0000*/                   EXIT ;
"""


class KernelTable(unittest.TestCase):
    def test_reads_what_ptxas_reports(self):
        self.assertEqual(kernel_table.resources(PTXAS), {"_Z1av": (40, 8, 16, 24, 132), "_Z1bv": (9, 0, 0, 0, 0)})

    def test_sees_code_that_the_compiler_gets_wrong(self):
        for wrong in ["VIMNMX.RELU R4, P0, P0, R6, 0x20, PT ;", "VIMNMX.S32.RELU R0, R0, UR6, PT ;"]:
            self.assertEqual(len(machine_code.miscompiled(SASS + wrong)), 1, wrong)
        self.assertEqual(machine_code.miscompiled(SASS + "VIMNMX R0, P0, PT, R0, 0x20, PT ;"), [])

    def test_finds_the_loop_that_loads_most(self):
        code = kernel_table.kernels_of(SASS)
        self.assertEqual(sorted(code), ["_Z1av", "_Z1bv"])
        found, instructions = kernel_table.loops(code["_Z1av"])
        self.assertEqual(found, [(0, 2), (24, 5)])
        self.assertEqual(instructions, 8)
        self.assertEqual(kernel_table.main_loop(found), 5)
        self.assertEqual(kernel_table.main_loop([(16, 9), (16, 4), (0, 2)]), 4)
        self.assertEqual(kernel_table.main_loop([(0, 2)]), 0)

    def test_names_kernels_by_template_and_numbers(self):
        build = "tilefold::detail::cuda::build<false, 900>"
        name = "void tilefold::detail::cuda::{}<" + build + ", {}tilefold::detail::source_of<float const*>>(int)"
        self.assertEqual(kernel_table.short_name(name.format("tile_kernel", "512, 16, ")), "tile_kernel<512, 16>")
        self.assertEqual(kernel_table.short_name(name.format("lanes_kernel", "")), "lanes_kernel")
        twins = [["sum", "float", "a", 1], ["sum", "float", "b", 2], ["sum", "float", "a", 3]]
        self.assertEqual([row[2] for row in kernel_table.number_twins(twins)], ["a #1", "b", "a #2"])

    def test_reads_the_item_type_out_of_the_build(self):
        name = "void tilefold::detail::cuda::lanes_kernel<tilefold::detail::cuda::build<false, 900{}>, float>(int)"
        self.assertEqual([kernel_table.type_of(name.format(f", {i}")) for i in (1, 2, 3, 4)],
                         ["float", "double", "int32", "half"])
        for unknown in ["void f<int>(int)", name.format(""), name.format(", 5")]:
            with self.assertRaises(RuntimeError):
                kernel_table.type_of(unknown)

    def test_tells_what_moved(self):
        row = ["sum", "float", "tile_kernel<512, 16>", "56", "0", "0", "0", "132", "1276", "817"]
        moved = [*row[:5], "40", *row[6:]]
        self.assertEqual(kernel_table.differences([row], [row]), [])
        self.assertEqual(kernel_table.differences([row], [moved]),
                         ["sum of float, tile_kernel<512, 16>: spill_stores 0 -> 40"])
        self.assertIn("no such kernel any more", kernel_table.differences([row], [])[0])
        self.assertIn("a new kernel", kernel_table.differences([], [row])[0])

    def test_the_committed_table_holds_every_call(self):
        rows = kernel_table.read(kernel_table.HERE / "kernel_table.csv")
        self.assertEqual({(row[0], row[1]) for row in rows}, set(kernel_table.all_calls()))


if __name__ == "__main__":
    unittest.main()
