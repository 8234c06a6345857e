# Ledger commit-once. One process, ops 1..N, one at a time. Strayed copies may be applied late, in any order.
from mc import bfs, report
from collections import namedtuple
import sys
# transaction copy: (op, kind 'ch'|'void'|'mk', uuid, ver or 'new')
S=namedtuple('S','led led_fresh applied net ph op copies uuid base told cancelled blocked_change old closed sweeps nlost dead')
# led: tuple per uuid of None or (ver, content)
class P: pass
def model(N=2, mk_first=False, void_marks=True, seal_failures=True, sweep='none', nonode='repeat', close_removes='always', cond=False, maxlost=3, uuids=2, cancel=True, versioned=False, ledger_first=True, late_bounded=True):
    init=S(led=(None,)*uuids,led_fresh=False,applied=(0,)*N,net=(),ph='idle',op=0,copies=0,uuid=0,base='new',told=('',)*N,cancelled=False,blocked_change=False,old=False,closed=False,sweeps=0,nlost=0,dead=())
    def apply(s,c):
        op,kind,u,ver=c
        led=list(s.led); L=led[u]
        # change part first (order in the transaction does not matter: all or nothing)
        if not ledger_first and kind=='ch' and cond and s.blocked_change: return s,'change_failed'
        if ver=='new':
            if L is not None: return s,'node_exists'
            led[u]=(0,(op,kind))
        else:
            if L is None: return s,'no_node'
            if L[0]!=ver: return s,'bad_version'
            led[u]=(ver+1,(op,kind))
        if ledger_first and kind=='ch' and cond and s.blocked_change: return s,'change_failed'
        ap=list(s.applied)
        if kind=='ch': ap[op]+=1
        return s._replace(led=tuple(led),led_fresh=True,applied=tuple(ap)),'ok'
    def tell(s,what):
        t=list(s.told); t[s.op]=what
        return s._replace(told=tuple(t),op=s.op+1,ph='idle',copies=0,cancelled=False,old=False)
    def drop(net,c):
        l=list(net); l.remove(c); return tuple(l)
    def addnet(net,c): return tuple(sorted(net+(c,),key=str))
    def content_is(c,op,kind):
        if void_marks: return c==(op,kind)
        return c[0]==op and (kind=='ch')   # content n only: cannot tell a void from the change
    def succ(s):
        out=[]
        N_=len(s.told)
        # environment: strayed copies applied late
        for c in set(s.net):
            t,r=apply(s,c)
            out.append((f'late copy {c} carried out: {r}',t._replace(net=drop(s.net,c))))
            out.append((f'~drop',s._replace(net=drop(s.net,c))))
        if cond: out.append(('~toggle',s._replace(blocked_change=not s.blocked_change)))
        if s.led_fresh or s.copies>0 and not s.old: out.append(('time X passes' ,s._replace(led_fresh=False, old=s.old or s.copies>0, net=() if late_bounded else s.net)))
        if sweep!='none' and s.sweeps<1 and not s.closed:
            for u,L in enumerate(s.led):
                if L is not None and (sweep=='any' or not s.led_fresh):
                    led=list(s.led); led[u]=None
                    out.append((f'sweeper removes ledger {u}',s._replace(led=tuple(led),sweeps=s.sweeps+1)))
        if s.closed: return out
        if s.ph=='idle':
            if s.op>=N_:
                led=list(s.led)
                if close_removes=='always' or (close_removes=='if_certain' and s.nlost==0): led[s.uuid]=None
                out.append(('close (removes the ledger)' if led!=list(s.led) else 'close (leaves it)',s._replace(led=tuple(led),closed=True)))
                return out
            if mk_first and s.base=='new': out.append(('make ledger',s._replace(ph='send_mk')))
            else: out.append((f'op{s.op} begins',s._replace(ph='send_ch')))
            return out
        if s.ph in('send_mk','send_ch','send_void'):
            kind=s.ph[5:]
            c=(s.op,kind,s.uuid,s.base)
            if kind=='mk': c=(s.op,'mk',s.uuid,'new')
            # three outcomes: reply arrives; applied and reply lost; not applied yet, strays (or dropped)
            t,r=apply(s,c)
            def reply(t,r):
                if kind=='mk':
                    return t._replace(ph='idle',base=0) 
                if r=='ok':
                    nb=0 if s.base=='new' else s.base+1
                    return tell(t._replace(base=nb),'done' if kind=='ch' else 'not')
                if r=='change_failed':
                    if seal_failures and s.copies>0: return t._replace(ph='send_void',cancelled=True)
                    return tell(t,'failed')
                if r=='no_node' and s.copies==0:   # first copy, a definite answer: swept while idle
                    return fresh(t)
                return t._replace(ph='read')
            out.append((f'{c}: {r}, reply arrives',reply(t,r)))
            if s.nlost<maxlost:
                out.append((f'{c}: {r}, reply lost',t._replace(ph='read',copies=s.copies+1,nlost=s.nlost+1)))
                out.append((f'{c}: sent, link lost, strays',s._replace(net=addnet(s.net,c),ph='read',copies=s.copies+1,nlost=s.nlost+1)))
            return out
        if s.ph=='read':
            if cancel and not s.cancelled: out.append(('caller gives up',s._replace(cancelled=True)))
            L=s.led[s.uuid]
            if s.base=='new' and mk_first:
                out.append(('the outcome of the create is ambiguous: another uuid',fresh(s))); return out
            if L is None and s.base=='new' and not (nonode=='age' and s.old):
                out.append(('sync+read ledger: absent, as before: again',s._replace(ph='send_void' if s.cancelled else 'send_ch')))
            elif L is None:
                if nonode=='repeat': out.append(('sync+read: NO_NODE: new ledger, repeat',fresh(s)))
                elif nonode=='age':
                    if s.old: out.append(('sync+read: NO_NODE, doubt is old: ambiguous',tell(fresh(s),'ambiguous')))
                    else: out.append(('sync+read: NO_NODE, doubt is young: not applied',fresh(s) if not s.cancelled else tell(fresh(s),'not')))
                else: out.append(('sync+read: NO_NODE: ambiguous',tell(fresh(s),'ambiguous')))
            elif s.base!='new' and L[0]==s.base or False:
                out.append(('sync+read ledger: unchanged: again',s._replace(ph='send_void' if s.cancelled else 'send_ch')))
            else:
                if content_is(L[1],s.op,'ch'): out.append((f'sync+read ledger {L}: done',tell(s._replace(base=L[0]),'done')))
                elif L[1][0]==s.op and L[1][1]=='void': out.append((f'sync+read ledger {L}: void',tell(s._replace(base=L[0]),'not')))
                else: out.append((f'sync+read ledger {L}: CONFUSED',s._replace(dead=('confused',))))
            return out
        return out
    def fresh(s):
        if s.uuid+1>=uuids: return s._replace(dead=('out of uuids',))
        return s._replace(uuid=s.uuid+1,base='new',ph='idle',copies=0)
    def check(s):
        if s.dead==('confused',): return 'ledger says what no live operation of ours wrote'
        for i,a in enumerate(s.applied):
            if a>1: return f'op carried out twice'
            if s.told[i]=='done' and a!=1: return 'told done, not carried out'
            if s.told[i] in('not','failed') and a>0: return f'told "{s.told[i]}", carried out'
        return None
    def succ2(s): return [] if s.dead else succ(s)
    return bfs(init,succ2,check)
if __name__=='__main__':
    M=dict(mk_first=True,close_removes='always',cond=True,uuids=4,sweep='age',nonode='age')
    report('J  slot made by its own request, own uuid each attempt; ledger op first; void marked; failure of a repeat sealed; sweep by age; removed at close',model(**M))
    report('J2 same, late copies unbounded',model(late_bounded=False,**M))
    report('J3 same without the seal',model(seal_failures=False,**M))
    report('J4 same without the void mark',model(void_marks=False,**M))
    report('J5 same, change before ledger',model(ledger_first=False,**M))
    report('J6 same, sweeper ignores age',model(**dict(M,sweep='any')))
    report('J7 3 operations, 4 lost replies',model(N=3,maxlost=4,**M))
