# The mended double barrier. R = ready.mzxid. Left over: the opener writes ready, nobody deletes it alone.
from mc import bfs
from runs import run
from collections import namedtuple
S=namedtuple('S','ready nodes zx P crashes touts')          # ready: None | (cz, ver, mz); counted kept per participant
Q=namedtuple('Q','ph own r lst disc ev w cnt round res late R')
LET="ABCDE"
def model(n,qty,rounds=1,leftover=False,crashes=0,touts=0,atomic=True,limit=150000,order=None,skip_younger=True,mark_late=True,fence=True,twoside=True,last=False):
    init=S((1,0,1) if leftover else None,(),1,tuple(Q('E0',0,None,(),(),None,0,False,1,'',False,0) for i in range(n)),0,0)
    if last: init=S((1,0,1),((0,0,1),),1,(Q('IN',0,None,(),(),None,0,True,1,'',False,1),)+init.P[1:],0,0)   # A is in, and has withdrawn
    nm=lambda i,q:i+n*(q.round-1)
    def node(s,x):
        for y in s.nodes:
            if y[0]==x: return y
    def put(s,i,**k):
        P=list(s.P); P[i]=P[i]._replace(**k); return s._replace(P=tuple(P))
    def fire(s,kind): return s._replace(P=tuple(q._replace(ev=q.ev or kind) if q.ph in('E2','E3','W','E5','E6') else q for q in s.P))
    def rm(s,x): return s._replace(nodes=tuple(y for y in s.nodes if y[0]!=x))
    def upd(s,x): return s._replace(nodes=tuple((a,b,1) if a==x else (a,b,c) for a,b,c in s.nodes))
    def names(s): return tuple(sorted(y[0] for y in s.nodes))
    def count(s,ch): return s._replace(P=tuple(q._replace(cnt=True) if nm(j,q) in ch else q for j,q in enumerate(s.P)))
    def older(s,x,R): 
        y=node(s,x); return y and y[1]<R
    def succ(s):
        out=[]
        for i,q in enumerate(s.P):
            L=f'{LET[i]}{q.round}'; me=nm(i,q); own=node(s,me); z=s.zx+1
            def go(l,t): out.append((f'{L} {l}',t))
            if own and s.crashes<crashes: out.append((f'~{L} is killed',put(rm(s,me),i,ph='DEAD')._replace(crashes=s.crashes+1)))
            if q.ph in('E1','E2','E3','E5','E6','W') and s.touts<touts: out.append((f'~{L} time is up',put(s,i,ph='X1')._replace(touts=s.touts+1)))
            if q.ph=='E0': go(f'creates its node at {z}',put(s._replace(nodes=s.nodes+((me,z,0),),zx=z),i,ph='E1',own=z))
            elif q.ph in('E1','E2'):
                t=s
                if q.ph=='E1':
                    t=put(s,i,r=s.ready,ev=None,ph='E2')
                    if not atomic: go(f'reads ready {s.ready}',t); continue
                q1=t.P[i]; lst=names(s); disc=tuple(d for d in q1.disc if d in lst); t=put(t,i,lst=lst,disc=disc); r=q1.r
                if r and r[2]>q1.own: go('ready is younger: in',put(t,i,ph='IN',R=r[2]))
                elif r: go(f'reads old ready {r}, lists {lst}',put(t,i,ph='E3'))
                elif len(lst)-len(disc)>=qty: go(f'lists {lst}: enough',put(t,i,ph='E6'))
                else: go(f'lists {lst}: waits',put(t,i,ph='W'))
            elif q.ph=='E3':
                old=[y for y in s.nodes if y[0] in q.lst and y[0]!=me and y[1]<q.r[2] and y[2]==0]
                if old: go(f'looks: {old[0][0]} is older than ready',put(s,i,ph='E5',lst=(old[0][0],)))
                elif len(q.lst)-len(q.disc)>=qty: go('looks: left over, enough',put(s,i,ph='E6'))
                else: go('looks: left over, waits',put(s,i,ph='W'))
            elif q.ph=='E5':
                m=node(s,q.lst[0])
                if s.ready and s.ready[1]==q.r[1] and own and own[2]==0 and m and m[2]==0:
                    t=upd(s,me) if mark_late else s
                    go('joins late',put(t._replace(zx=z),i,ph='IN',late=True,R=s.ready[2]))
                else: go('cannot join late',put(s,i,ph='E1'))
            elif q.ph=='E6':
                ch=([me]+[x for x in q.lst if x!=me and x not in q.disc])[:qty]
                bad=[x for x in ch if not node(s,x) or node(s,x)[2]]
                if len(ch)<qty: go('too few',put(s,i,ph='E1'))
                elif bad: go(f'open fails at {bad[0]}',put(s,i,ph='E1',disc=q.disc+(bad[0],)))
                elif q.r is None:
                    if s.ready: go('open: NODE_EXISTS: looks again',put(s,i,ph='E1'))
                    else: go(f'opens at {z} with {ch}',put(count(fire(s._replace(ready=(z,0,z),zx=z),'created'),ch),i,ph='IN',R=z))
                elif not s.ready or (fence and s.ready[1]!=q.r[1]): go('open fails at ready',put(s,i,ph='E1'))
                else: go(f'opens the left over at {z} with {ch}',put(count(fire(s._replace(ready=(s.ready[0],s.ready[1]+1,z),zx=z),'changed'),ch),i,ph='IN',R=z))
            elif q.ph=='W':
                if q.ev: go(f'event {q.ev}',put(s,i,ph='E1'))
            elif q.ph=='X1': go('withdraws',put(upd(s,me)._replace(zx=z),i,ph='X2',w=z))
            elif q.ph=='X2':
                r=s.ready; c=r and ((q.own<r[2]<q.w) or (twoside and q.own<r[0]<q.w))
                if c: go('was counted: in',put(s,i,ph='IN',R=r[2] if r[2]<q.w else r[0]))
                else: go('not counted',put(s,i,ph='X3'))
            elif q.ph=='X3': go('removes own: timed out',put(rm(s,me),i,ph='OUT'))
            elif q.ph=='IN': go('leaves: reads ready',put(s,i,ph='L1',r=s.ready))
            elif q.ph=='L1':
                lst=names(s); mine=[x for x in lst if x==me or (older(s,x,q.R) if skip_younger else True)]
                if mine==[me]: go(f'lists {lst}: alone of its round',put(s,i,ph='L3'))
                elif mine[0]==me: go(f'lists {lst}: lowest, watches {mine[-1]}',put(s,i,ph='LW',lst=(mine[-1],)))
                else: go(f'lists {lst}: watches {mine[0]}',put(s,i,ph='L4',lst=(mine[0],)))
            elif q.ph=='LW':
                if not node(s,q.lst[0]): go('highest is gone',put(s,i,ph='IN'))
            elif q.ph=='L3':
                mineR=q.r and q.r[2]==q.R and not q.late
                if not mineR: go('removes own: has left',done(rm(s,me),i))
                elif s.ready and s.ready[1]==q.r[1]: go('removes own and ready: has left',done(fire(rm(s,me)._replace(ready=None),'deleted'),i))
                else: go('ready has changed',put(s,i,ph='IN'))
            elif q.ph=='L4': go('removes own',put(rm(s,me),i,ph='L5'))
            elif q.ph=='L5':
                if not node(s,q.lst[0]):
                    rest=[x for x in names(s) if (older(s,x,q.R) if skip_younger else True)]
                    if not rest: go('has left',done(s,i))
                    else: go(f'watches {rest[0]}',put(s,i,lst=(rest[0],)))
        return out
    def done(s,i):
        q=s.P[i]
        bad=any(j!=i and p.ph in('IN','L1','LW','L3','L4') and node(s,nm(j,p)) and not p.late and p.R==q.R for j,p in enumerate(s.P))
        if q.round<(rounds[i] if isinstance(rounds,tuple) else rounds) and not bad: return put(s,i,ph='E0',own=0,r=None,lst=(),disc=(),ev=None,w=0,cnt=False,round=q.round+1,late=False,R=0)
        return put(s,i,ph='DONE',res='BAD' if bad else 'ok',lst=())
    def check(s):
        for i,q in enumerate(s.P):
            if q.res=='BAD': return 'a leave ended while a member of its round stands'
            if q.ph=='OUT' and q.cnt: return 'told timed_out though counted'
            if q.ph=='IN' and q.late and q.cnt: return 'a late joiner was counted for another round'
        return None
    def final(s):
        st=[f'{LET[i]}{q.round}:{q.ph}' for i,q in enumerate(s.P) if q.ph in('LW','L5')]
        if st: return 'stuck in leave '+' '.join(st)
        w=[(i,q) for i,q in enumerate(s.P) if q.ph=='W']
        if any(q.cnt for i,q in w): return 'counted, waits for ever'
        if len([1 for i,q in w if node(s,nm(i,q))[2]==0])>=qty: return 'enough wait, nobody opens'
        if isinstance(rounds,int) and rounds>1 and w and not crashes and not touts: return 'a round never opens'
    return bfs(init,succ,check,final,limit)
TOLD,STUCK,LATE='told timed_out though counted','stuck in leave B1:L5','a late joiner was counted for another round'
# name, arguments, the violation that is looked for
QUICK=[('2 of 2, left over, time-out and kill',dict(n=2,qty=2,leftover=True,atomic=False,touts=1,crashes=1),None),
     ('3 of 2, left over',dict(n=3,qty=2,leftover=True),None),
     ('3 of 3',dict(n=3,qty=3),None),
     ('2 of 2, 2 rounds, kill',dict(n=2,qty=2,rounds=2,crashes=1),None),
     ('2 of 2, 2 rounds, time-out',dict(n=2,qty=2,rounds=2,touts=1),None),
     ('mutant: younger are waited for, 2 of 2, 2 rounds',dict(n=2,qty=2,rounds=2,skip_younger=False),STUCK),
     ('mutant: late not marked, 3 of 2, one comes again',dict(n=3,qty=2,rounds=(2,1,1),mark_late=False),LATE),
     ('mutant: no version at the left over, 3 of 2, time-out',dict(n=3,qty=2,leftover=True,touts=1,fence=False,twoside=False),TOLD)]
FULL=[('3 of 2, left over, time-out',dict(n=3,qty=2,leftover=True,touts=1,limit=900_000),None),
     ('3 of 2, time-out and kill',dict(n=3,qty=2,touts=1,crashes=1,limit=900_000),None),
     ('3 of 3, 2 rounds',dict(n=3,qty=3,rounds=2),None),
     ('3 of 2, one comes again',dict(n=3,qty=2,rounds=(2,1,1)),None),
     # A new ready may have the version of the one before: a round is opened twice then, by those that stand. No promise is broken.
     ('the last of a round, and 3 of 2',dict(n=4,qty=2,last=True,limit=600_000),None)]
if __name__=='__main__': run(model,QUICK,FULL)
