" SPDX-License-Identifier: Apache-2.0
" Vim syntax file: Skua interface files (*.ci).
"
" What is in the braces of serial and code is C; the rest is keywords, types and names.
if exists("b:current_syntax")
  finish
endif

syntax include @skuaC syntax/c.vim
unlet! b:current_syntax

syntax case match
syntax sync minlines=200

syntax keyword skuaStructure module mainmodule extern include initnode readonly message struct state
syntax keyword skuaClass     mainchare chare group nodegroup array interface
syntax keyword skuaEntry     entry transient migratable bypointer
syntax keyword skuaFlow      when if else for while forall overlap case
syntax keyword skuaSerial    serial code
syntax keyword skuaAttribute threaded sync expedited immediate inline local reductiontarget contained
syntax keyword skuaAttribute createhere createhome nokeep notrace aggregate nocopy nocopypost inplace contained
syntax keyword skuaType      void char short int long float double signed unsigned bool size_t string const
syntax keyword skuaType      int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
syntax match   skuaDims      "\<[1-6]D\>"
syntax match   skuaProxy     "\<\u\w*_\(proxy\|element\|section\)\>"
syntax match   skuaNumber    "\<\d\w*\>"
syntax match   skuaHash      "^\s*#.*$"
syntax region  skuaString    start=+"+ skip=+\\.+ end=+"+ oneline
syntax region  skuaComment   start="/\*" end="\*/" contains=skuaTodo
syntax match   skuaComment   "//.*$" contains=skuaTodo
syntax keyword skuaTodo      TODO FIXME XXX contained

syntax match   skuaAttributes "\(\<entry\s*\)\@<=\[[^]]*\]" contains=skuaAttribute,skuaNumber
syntax region  skuaSerialBlock matchgroup=skuaSerial start=+\<serial\>\s*\("[^"]*"\)\?\s*{+ end="}" contains=@skuaC,skuaBraces fold
syntax region  skuaSerialBlock matchgroup=skuaSerial start=+\<code\>\s*{+ end="}" contains=@skuaC,skuaBraces fold
syntax region  skuaBraces      start="{" end="}" contained transparent contains=@skuaC,skuaBraces

highlight default link skuaStructure Structure
highlight default link skuaClass     StorageClass
highlight default link skuaEntry     Keyword
highlight default link skuaFlow      Conditional
highlight default link skuaSerial    Statement
highlight default link skuaAttribute PreProc
highlight default link skuaType      Type
highlight default link skuaDims      Constant
highlight default link skuaProxy     Type
highlight default link skuaNumber    Number
highlight default link skuaHash      PreProc
highlight default link skuaString    String
highlight default link skuaComment   Comment
highlight default link skuaTodo      Todo

let b:current_syntax = "skua"
