import { describeEdges } from './edges.fixture.ts'

describeEdges('Go', [
  [
    'packages by go.mod, files of one package, methods of receivers, fields and results, embedded types',
    {
      'go.mod': 'module example.com/shop\n',
      'store/store.go':
        'package store\n\ntype Base struct{}\n\nfunc (b *Base) Save() {}\n\ntype Store struct {\n\tBase\n\tinner *Base\n}\n\nfunc New() *Store { return &Store{} }\n',
      'store/more.go':
        'package store\n\nfunc (s *Store) All() {\n\ts.one()\n\ts.Save()\n\ts.inner.Save()\n\thelp()\n}\n\nfunc (s *Store) one() {}\n',
      'store/help.go': 'package store\n\nfunc help() {}\n',
      'main.go':
        'package main\n\nimport (\n\t"fmt"\n\tst "example.com/shop/store"\n)\n\nfunc main() {\n\ts := st.New()\n\ts.All()\n\tfmt.Println()\n}\n',
      'store/store_test.go': 'package store\n\nfunc TestNew(t *T) { New() }\n\nfunc TestStore_All(t *T) {}\n',
    },
    [
      'calls main.go#main -> store/more.go#Store.All',
      'calls main.go#main -> store/store.go#New',
      'calls store/more.go#Store.All -> store/help.go#help',
      'calls store/more.go#Store.All -> store/more.go#Store.one',
      'calls store/more.go#Store.All -> store/store.go#Base.Save',
      'calls store/store.go#New -> store/store.go#Store',
      'calls store/store_test.go#TestNew -> store/store.go#New',
      'imports main.go -> store/store.go',
      'inherits store/store.go#Store -> store/store.go#Base',
      'tests store/store_test.go#TestNew -> store/store.go#New',
      'tests store/store_test.go#TestStore_All -> store/more.go#Store.All ~',
    ],
  ],
  [
    "a nearer name hides, and a method that two types have is no one's",
    {
      'a.go':
        'package a\n\ntype A struct{}\n\nfunc (a A) Both() {}\nfunc (a A) Only() {}\n\ntype B struct{}\n\nfunc (b B) Both() {}\n\nfunc f() {}\n',
      'b.go': 'package a\n\nfunc use(f func(), x any) {\n\tf()\n\tx.Both()\n\tx.Only()\n}\n',
    },
    ['calls b.go#use -> a.go#A.Only ~'],
  ],
])
