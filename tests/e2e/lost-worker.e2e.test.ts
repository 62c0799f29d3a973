import { killed, testLostOperations } from './lost-operations.ts'

testLostOperations(killed)
